package org.opensearch.transport.grpc.spi;

/** The k-NN plugin of 3.x refers to it and cannot be loaded without it. Only a distribution has the real one. */
public interface QueryBuilderProtoConverterRegistry {}
