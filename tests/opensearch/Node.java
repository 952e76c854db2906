import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.plugins.Plugin;

/** One node of OpenSearch as a process. The first argument is its folder, the others are settings as name=value. */
public final class Node {
    /** What a distribution has of modules that Lyra uses, and two plugins. */
    private static final List<String> PARTS = List.of(
        "org.opensearch.transport.Netty4",
        "org.opensearch.analysis.common.CommonAnalysis",
        "org.opensearch.index.mapper.MapperExtras",
        "org.opensearch.index.reindex.Reindex",
        "org.opensearch.script.expression.Expression",
        "org.opensearch.painless.Painless",
        "org.opensearch.plugin.analysis.kuromoji.AnalysisKuromoji",
        "org.opensearch.knn.plugin.KNN");

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Files.createDirectories(home.resolve("config"));
        Settings.Builder settings = Settings.builder().put("path.home", home.toString());
        Stream.of(arguments).skip(1).map(argument -> argument.split("=", 2)).forEach(pair -> settings.put(pair[0], pair[1]));
        var environment = InternalSettingsPreparer.prepareEnvironment(settings.build(), Map.of(), null, () -> "unnamed");
        List<String> parts = new ArrayList<>(PARTS);
        if (Files.exists(home.resolve("config/opensearch-security"))) {
            parts.add("org.opensearch.security.OpenSearchSecurity");
        }
        var node = new OpenSearchRunnerNode(environment, parts.stream().map(Node::part).toList());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        Thread.currentThread().join();
    }

    private static void close(OpenSearchRunnerNode node) {
        try {
            node.close();
        } catch (IOException error) {
            error.printStackTrace();
        }
    }

    /** The class of a part: 3.x calls it "…ModulePlugin" where 2.x says "…Plugin". */
    private static Class<? extends Plugin> part(String name) {
        for (String ending : List.of("ModulePlugin", "Plugin")) {
            try {
                return Class.forName(name + ending).asSubclass(Plugin.class);
            } catch (ClassNotFoundException none) {
                continue;
            }
        }
        throw new IllegalStateException("no plugin " + name + " is on the class path");
    }
}
