package io.emberscope;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/** A file system that only Hadoop knows, which like HDFS does not rename onto a file. Writes through it and prints. */
public final class OtherFileSystem extends RawLocalFileSystem {
    /** One that must not be asked to rename. */
    public static final class InPlace extends RawLocalFileSystem {
        @Override
        public String getScheme() {
            return "cosn";
        }

        @Override
        public URI getUri() {
            return URI.create("cosn:///");
        }

        @Override
        public boolean rename(Path from, Path to) throws IOException {
            throw new IOException("a rename is a copy here");
        }
    }

    static int open;

    @Override
    public String getScheme() {
        return "other";
    }

    @Override
    public URI getUri() {
        return URI.create("other:///");
    }

    @Override
    public void initialize(URI uri, org.apache.hadoop.conf.Configuration conf) throws IOException {
        super.initialize(uri, conf);
        open++;
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        return !exists(to) && super.rename(from, to);
    }

    @Override
    public void close() throws IOException {
        super.close();
        open--;
    }

    public static void main(String[] arguments) throws Exception {
        SparkConf conf = new SparkConf(false).set("spark.hadoop.fs.other.impl", OtherFileSystem.class.getName());
        RunAddress address = new RunAddress("other://" + arguments[0], "../group", "app 1", "1");
        RunStore store = RunStore.open(address.directory, conf, UserGroupInformation.getCurrentUser());
        store.put("recordings/executor-1/1-000000.json", "first".getBytes(StandardCharsets.UTF_8));
        store.put("recordings/executor-1/1-000000.json", "second".getBytes(StandardCharsets.UTF_8));
        OutputStream left = store.create("recordings/executor-1/2.tmp");
        left.close();
        store.delete("recordings/executor-1/2.tmp");
        int opened = open;
        store.close();

        // As an object store of a Hadoop that cannot abort a stream: written in place, and taken back.
        conf.set("spark.hadoop.fs.cosn.impl", InPlace.class.getName());
        RunAddress there = new RunAddress("cosn://" + arguments[0] + "/objects", "group", "app 1", "1");
        RunStore objects = RunStore.open(there.directory, conf, UserGroupInformation.getCurrentUser());
        RunStore.Upload failing = objects.begin("failing");
        failing.out.write(1);
        failing.abandon();
        objects.put("whole", "first".getBytes(StandardCharsets.UTF_8));
        objects.put("whole", "second".getBytes(StandardCharsets.UTF_8));
        objects.close();
        System.out.println("{\"directory\": \"" + address.directory + "\", \"opened\": " + opened + ", \"open\": " + open + "}");
    }
}
