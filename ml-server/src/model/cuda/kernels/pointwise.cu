// Element-wise kernels.

enum { GELU_ERF = 0, GELU_TANH = 1, RELU = 2, TANH = 3 };

template <int KIND>
__device__ __forceinline__ float activated(float x) {
    if (KIND == GELU_ERF) return 0.5f * x * (1.0f + erff(x * 0.7071067811865476f));
    if (KIND == GELU_TANH) return 0.5f * x * (1.0f + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)));
    if (KIND == RELU) return fmaxf(x, 0.0f);
    return tanhf(x);
}

template <int KIND>
__device__ __forceinline__ void activate_all(element* values, long long vectors) {
    long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < vectors; at += step) {
        float part[VECTOR];
        load(values + at * VECTOR, part);
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) part[i] = activated<KIND>(part[i]);
        store(values + at * VECTOR, part);
    }
}

// The function in place, over `vectors` vectors.
extern "C" __global__ void __launch_bounds__(256) activate(element* values, long long vectors, int kind) {
    switch (kind) {
        case GELU_ERF: return activate_all<GELU_ERF>(values, vectors);
        case GELU_TANH: return activate_all<GELU_TANH>(values, vectors);
        case RELU: return activate_all<RELU>(values, vectors);
        default: return activate_all<TANH>(values, vectors);
    }
}
EXPORT(activate)

template <int KIND>
__device__ __forceinline__ void gate_all(const element* up, element* out, long long vectors, int width) {
    int per_row = width / VECTOR;
    long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < vectors; at += step) {
        const element* from = up + (at / per_row * 2 * width) + (at % per_row) * VECTOR;
        float input[VECTOR], gate[VECTOR];
        load(from, input);
        load(from + width, gate);
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) input[i] = activated<KIND>(input[i]) * gate[i];
        store(out + at * VECTOR, input);
    }
}

// f(a) b for rows of halves [a, b] of `width` each, https://arxiv.org/abs/2002.05202 section 2; `vectors` are those of `out`.
extern "C" __global__ void __launch_bounds__(256) gate(
    const element* up, element* out, long long vectors, int width, int kind) {
    switch (kind) {
        case GELU_ERF: return gate_all<GELU_ERF>(up, out, vectors, width);
        case GELU_TANH: return gate_all<GELU_TANH>(up, out, vectors, width);
        case RELU: return gate_all<RELU>(up, out, vectors, width);
        default: return gate_all<TANH>(up, out, vectors, width);
    }
}
EXPORT(gate)

// Turns the queries and keys of one token per block by its position (https://arxiv.org/abs/2104.09864 eq. 34), the two
// halves of a head forming the pairs. `cosine` and `sine` are [positions, HEAD_DIM / 2].
extern "C" __global__ void __launch_bounds__(256) rotate(
    element* qkv, const float* cosine, const float* sine, const int* places) {
    constexpr int HALF = HEAD_DIM / 2;
    element* row = qkv + static_cast<long long>(blockIdx.x) * 3 * HIDDEN;
    long long angles = static_cast<long long>(places[blockIdx.x]) * HALF;
    for (int at = static_cast<int>(threadIdx.x); at < 2 * HEADS * HALF; at += static_cast<int>(blockDim.x)) {
        int pair = at % HALF;
        element* first = row + at / HALF * HEAD_DIM + pair;
        element* second = first + HALF;
        float cos = cosine[angles + pair], sin = sine[angles + pair];
        float a = value_of(*first), b = value_of(*second);
        *first = element_of(a * cos - b * sin);
        *second = element_of(b * cos + a * sin);
    }
}
EXPORT(rotate)

// The vectors of a token's neighborhood of `size` tokens side by side, zeros beyond the ends of its sequence. One token per
// block; `before` and `after` are the numbers of tokens of its sequence on either side of it.
extern "C" __global__ void __launch_bounds__(128) neighbours(
    const element* x, element* out, const int* before, const int* after, int size) {
    int row = static_cast<int>(blockIdx.x);
    int least = -before[row], most = after[row];
    for (int at = static_cast<int>(threadIdx.x); at < size * (HIDDEN / VECTOR); at += static_cast<int>(blockDim.x)) {
        int distance = at / (HIDDEN / VECTOR) - size / 2;
        int column = at % (HIDDEN / VECTOR) * VECTOR;
        uint4 bits = make_uint4(0, 0, 0, 0);
        if (distance >= least && distance <= most)
            bits = *reinterpret_cast<const uint4*>(x + static_cast<long long>(row + distance) * HIDDEN + column);
        *reinterpret_cast<uint4*>(out + static_cast<long long>(row) * size * HIDDEN + at * VECTOR) = bits;
    }
}
EXPORT(neighbours)
