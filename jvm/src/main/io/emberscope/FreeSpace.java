package io.emberscope;

import java.nio.file.Files;
import java.nio.file.Path;

/** Whether there is room on the disk for an engine's chunks. */
final class FreeSpace {
    private FreeSpace() {}

    /** What is to be said where {@code budget.free} is not left in a directory, else null. Cheap: asked every second. */
    static String lacking(Path directory, Settings settings, String engine) {
        long least = settings.bytes(Settings.Key.BUDGET_FREE);
        // Not by the file store: to find that out Java reads the whole table of mounts.
        long free = directory.toFile().getUsableSpace();
        return free >= least || !Files.isDirectory(directory)
                ? null
                : "only " + (free >> 20) + " MiB are free in " + directory + ", where " + engine + " keeps its chunks: nothing is "
                        + "recorded below " + (least >> 20) + " MiB (" + Settings.Key.BUDGET_FREE.key + ")";
    }
}
