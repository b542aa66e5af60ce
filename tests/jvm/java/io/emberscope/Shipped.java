package io.emberscope;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What a recorder has put into a store so far. */
final class Shipped {
    private Shipped() {}

    /** Whether there is a manifest, and so a whole chunk. */
    static boolean any(Path store) throws IOException {
        if (!Files.isDirectory(store)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(store)) {
            return files.anyMatch(file -> file.toString().endsWith(".json"));
        } catch (UncheckedIOException renamed) {
            return false; // A file got its name while we looked.
        }
    }
}
