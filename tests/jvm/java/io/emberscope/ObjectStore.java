package io.emberscope;

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/** Writes a run into a bucket by Hadoop's own s3a and prints what the server has after each step. Argument: its URL. */
public final class ObjectStore {
    private static final Map<String, Object> SEEN = new LinkedHashMap<>();
    private static String server;

    public static void main(String[] arguments) throws Exception {
        server = arguments[0];
        request("PUT", "/bucket");
        SparkConf conf = new SparkConf(false)
                .set("spark.hadoop.fs.s3a.endpoint", server)
                .set("spark.hadoop.fs.s3a.endpoint.region", "us-east-1")
                .set("spark.hadoop.fs.s3a.path.style.access", "true")
                .set("spark.hadoop.fs.s3a.access.key", "testkey")
                .set("spark.hadoop.fs.s3a.secret.key", "testsecret")
                .set("spark.hadoop.fs.s3a.connection.ssl.enabled", "false")
                .set("spark.hadoop.fs.s3a.attempts.maximum", "1");
        RunAddress address = new RunAddress("s3a://bucket/runs", "default", "app-1", "1");
        RunStore store = RunStore.open(address.directory, conf, UserGroupInformation.getCurrentUser());

        RunStore.Upload upload = store.begin("recordings/executor-1/1-000000.jfr");
        byte[] chunk = new byte[700_000];
        Arrays.fill(chunk, (byte) 7);
        upload.out.write(chunk);
        upload.out.flush();
        see("written");
        upload.commit();
        see("committed");

        RunStore.Upload failing = store.begin("recordings/executor-1/2-000001.jfr");
        failing.out.write(chunk);
        failing.abandon();
        see("abandoned");

        store.put("recordings/executor-1/1-000000.json", "first".getBytes(StandardCharsets.UTF_8));
        store.put("recordings/executor-1/1-000000.json", "second".getBytes(StandardCharsets.UTF_8));
        see("manifest");
        SEEN.put("text", request("GET", "/bucket/runs/default/app-1/1/recordings/executor-1/1-000000.json"));
        store.close();
        System.out.write(Json.bytes(SEEN));
        System.out.flush();
        System.exit(0);
    }

    private static void see(String when) throws Exception {
        Map<String, Object> objects = new LinkedHashMap<>();
        Matcher found = Pattern.compile("<Key>([^<]*)</Key>.*?<Size>(\\d+)</Size>", Pattern.DOTALL)
                .matcher(request("GET", "/bucket?list-type=2"));
        while (found.find()) {
            objects.put(found.group(1), Long.valueOf(found.group(2)));
        }
        SEEN.put(when, objects);
        SEEN.put(when + " uploads", request("GET", "/bucket?uploads").contains("<UploadId>"));
    }

    private static String request(String method, String path) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) new URL(server + path).openConnection();
        connection.setRequestMethod(method);
        connection.setRequestProperty(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=testkey/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0");
        try (InputStream in = connection.getInputStream(); Scanner all = new Scanner(in, "UTF-8").useDelimiter("\\A")) {
            return all.hasNext() ? all.next() : "";
        }
    }
}
