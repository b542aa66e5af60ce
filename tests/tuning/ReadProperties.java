import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/** Reads a properties file from standard input as Spark does and prints each key and value as hexadecimal UTF-8. */
public final class ReadProperties {
    private ReadProperties() {}

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.load(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        for (String key : properties.stringPropertyNames()) {
            out.println(hex(key) + " " + hex(properties.getProperty(key)));
        }
    }

    private static String hex(String text) {
        StringBuilder digits = new StringBuilder("x");
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            digits.append(String.format("%02x", one));
        }
        return digits.toString();
    }
}
