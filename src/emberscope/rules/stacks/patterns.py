"""The hot spots that the rules of this family know, as frames of Java, Scala, Spark and Python.

Rank 1 is work on a value; rank 0 is what any work does as a part of itself; the ranks above 1 use what is of lower
rank: a client that parses its settings as JSON while it is made is a client that is made, not JSON.
"""

from __future__ import annotations

from typing import Final

from emberscope.rules.stacks.pattern import Pattern

_SPARK: Final = r"org\.apache\.spark\."
_CATALYST: Final = r"org\.apache\.spark\.sql\.catalyst\."

COMPILED_PATTERNS: Final = Pattern("S1", (r"java\.util\.regex\.Pattern\.(<init>|compile|matches|RemoveQEQuoting)$",))
REGULAR_EXPRESSIONS: Final = Pattern(
    "S2",
    (
        r"java\.util\.regex\.(Matcher\.|Pattern\$|Pattern\.split)",
        r"com\.google\.re2j\.",
        r"dk\.brics\.automaton\.",
        r"org\.joni\.",
    ),
)
BOXED_VALUES: Final = Pattern(
    "S3",
    (
        r"java\.lang\.(Integer|Long|Double|Float|Short|Byte|Character|Boolean)\.(valueOf|<init>|equals|hashCode)$",
        r"java\.lang\.Number\.<init>$",
        r"scala\.runtime\.BoxesRunTime\.",
    ),
    rank=0,
    own=True,
)
ROW_OBJECTS: Final = Pattern(
    "S4",
    (
        _CATALYST + r"CatalystTypeConverters",
        _CATALYST + r"encoders\.ExpressionEncoder\$(Des|S)erializer",
        _CATALYST + r"expressions\.GeneratedClass\$SpecificSafeProjection",
    ),
)
OBJECTS_PER_ROW: Final = Pattern(
    "S5",
    (
        r"java\.text\.(SimpleDateFormat|DecimalFormat|MessageFormat|DecimalFormatSymbols)\.<init>$",
        r"java\.text\.(NumberFormat|DateFormat)\.get\w*Instance$",
        r"java\.time\.format\.(DateTimeFormatter\.of|DateTimeFormatterBuilder\.(<init>|append|toFormatter))",
        r"org\.joda\.time\.format\.DateTimeFormat\.(forPattern|createFormatter)",
        r"com\.fasterxml\.jackson\.databind\.(ObjectMapper\.(<init>|copy|registerModule)|json\.JsonMapper)",
        r"com\.google\.gson\.(Gson\.<init>|GsonBuilder\.)",
        r"org\.json4s\.\w*Formats?\$?\.<init>$",
        r"javax\.xml\.(parsers|transform|xpath|stream|bind)\.\w+\.(newInstance|newFactory)$",
        r"javax\.crypto\.(Cipher|Mac|SecretKeyFactory|KeyGenerator)\.getInstance$",
        r"java\.security\.(MessageDigest|KeyFactory|Signature|KeyStore|SecureRandom)\.getInstance$",
        r"javax\.script\.ScriptEngineManager\.",
        r"org\.apache\.avro\.Schema\$Parser\.parse$",
        r"org\.apache\.hadoop\.conf\.Configuration\.(<init>|loadResource)",
    ),
    rank=2,
    own=True,
)
CLIENTS_PER_ROW: Final = Pattern(
    "S6",
    (
        r"java\.sql\.DriverManager\.getConnection$",
        r"com\.zaxxer\.hikari\.HikariDataSource\.<init>$",
        r"(java|jdk\.internal)\.net\.http\.HttpClient(Impl|BuilderImpl)?\.(<init>|build|create|newHttpClient)$",
        r"jdk\.internal\.net\.http\.HttpClientImpl\.(<init>|create)",
        r"org\.apache\.http\.impl\.client\.(HttpClientBuilder\.build|HttpClients\.)",
        r"org\.apache\.hc\.client5\.http\.impl\.\w+\.\w+Builder\.build$",
        r"okhttp3\.OkHttpClient(\$Builder)?\.(<init>|build)$",
        r"com\.amazonaws\.client\.builder\.\w+\.build$",
        r"com\.amazonaws\.services\.\w+\.\w+Client\.<init>$",
        r"software\.amazon\.awssdk\.(core|awscore)\.client\.builder\.\w+\.build$",
        r"com\.google\.cloud\.\w+\.\w+Options\$Builder\.build$",
        r"com\.google\.cloud\.ServiceOptions\.getService$",
        r"com\.azure\.\w+(\.\w+)*\.\w+ClientBuilder\.build\w*$",
        r"org\.apache\.kafka\.clients\.(producer\.KafkaProducer|consumer\.KafkaConsumer|admin\.KafkaAdminClient)\.<init>$",
        r"redis\.clients\.jedis\.Jedis\w*\.<init>$",
        r"io\.lettuce\.core\.RedisClient\.create$",
        r"com\.mongodb\.(client\.MongoClients\.create|MongoClient\.<init>)$",
        r"org\.elasticsearch\.client\.Rest\w*Client\w*\.(<init>|build)$",
        r"com\.datastax\.(oss\.driver|driver)\.\w+(\.\w+)*\.(buildAsync|build|connect)$",
        r"org\.apache\.hadoop\.hbase\.client\.ConnectionFactory\.createConnection$",
        r"io\.grpc\.\w*ManagedChannelBuilder\.build$",
    ),
    rank=5,
    waits=True,
    own=True,
)
JAVA_SERIALIZATION: Final = Pattern(
    "S7",
    (r"java\.io\.Object(Output|Input)Stream\.",),
    inside=("task",),
    outside=("whole_value",),
)
DATES: Final = Pattern(
    "S8",
    (
        r"java\.text\.(SimpleDateFormat|DateFormat)\.(parse|format|subParse|subFormat|formatToCharacterIterator)",
        r"java\.time\.format\.DateTime(Formatter|PrintContext|ParseContext|FormatterBuilder\$)[\w$]*\.(parse|format|print)",
        r"java\.time\.(Local|Zoned|Offset)?(Date|Time|DateTime|Instant)\.(parse|format)$",
        r"org\.joda\.time\.format\.DateTimeFormatter\.(parse|print|append)",
        _CATALYST + r"util\.\w*(Timestamp|Date)Formatter\.(parse|format)",
    ),
)
FILE_LISTING: Final = Pattern(
    "S9",
    (
        r"org\.apache\.hadoop\.fs(\.\w+)*\.\w*FileSystem(\$\w+)?\.(innerL|l)ist(Status|LocatedStatus|Files)",
        r"org\.apache\.hadoop\.fs(\.\w+)*\.\w*FileSystem\.(s3G|innerG|g)etFileStatus$",
        r"org\.apache\.hadoop\.fs(\.\w+)*\.\w*FileSystem\.(exists|isFile|isDirectory|globStatus|getContentSummary)$",
        r"com\.amazonaws\.services\.s3\.AmazonS3Client\.(listObjects|listNext|getObjectMetadata)",
        r"software\.amazon\.awssdk\.services\.s3\.DefaultS3(Async)?Client\.(listObjects|headObject)",
        r"com\.google\.cloud\.hadoop\.(gcsio|fs\.gcs)\.\w+\.(list|getItemInfo|getFileInfo)",
    ),
    rank=2,
    waits=True,
)
LOGGING: Final = Pattern(
    "S10",
    (
        r"org\.apache\.logging\.(log4j|slf4j)\.",
        r"org\.apache\.log4j\.",
        r"ch\.qos\.logback\.",
        r"java\.util\.logging\.Logger\.",
        r"org\.slf4j\.(impl|event|helpers)\.",
        r"org\.apache\.spark\.internal\.Logging\.log\w+$",
    ),
    rank=4,
    waits=True,
)
INTERPRETED: Final = Pattern(
    "S11",
    (
        _CATALYST + r"expressions\.Interpreted\w*Projection\.apply$",
        _CATALYST + r"expressions\.InterpretedPredicate\.eval$",
        _CATALYST + r"expressions\.aggregate\.\w+\.(update|merge)Expressions",
        r"org\.apache\.spark\.sql\.execution\.aggregate\.AggregationIterator\.\$anonfun\$generateProcessRow",
    ),
)
PYTHON_START: Final = Pattern(
    "S13",
    (
        _SPARK + r"api\.python\.PythonWorkerFactory\.(create|startDaemon)",
        _SPARK + r"SparkEnv\.createPythonWorker$",
    ),
    rank=5,
    waits=True,
)
JSON_PARSING: Final = Pattern(
    "S15",
    (
        r"com\.fasterxml\.jackson\.(core|databind)\.",
        r"com\.google\.gson\.",
        r"org\.json4?s?\.",
        r"net\.minidev\.json\.",
        r"com\.jayway\.jsonpath\.",
        r"com\.alibaba\.fastjson2?\.",
        _CATALYST + r"json\.JacksonParser\.",
        _CATALYST + r"expressions\.(json\.\w+Evaluator|GetJsonObject|JsonToStructs|JsonTuple)",
    ),
)
COMPRESSION: Final = Pattern(
    "S16",
    (
        r"java\.util\.zip\.(Deflater|Inflater|GZIP)",
        r"com\.github\.luben\.zstd\.",
        r"org\.apache\.hadoop\.io\.compress\.(zlib|bzip2|zstd|Gzip|BZip2|BuiltIn|Default|Deflate|ZStandard)",
        r"org\.apache\.commons\.compress\.compressors\.",
        r"io\.airlift\.compress(\.v3)?\.(zstd|gzip|deflate|bzip2)",
        r"org\.tukaani\.xz\.",
        r"org\.brotli\.",
    ),
    native=True,
)
EXCEPTIONS: Final = Pattern(
    "S17",
    (
        r"java\.lang\.Throwable\.(fillInStackTrace|<init>|getStackTrace|getOurStackTrace|printStackTrace)",
        r"java\.lang\.StackTraceElement\.",
        r"java\.lang\.(Exception|RuntimeException|Error|IllegalArgumentException)\.<init>$",
    ),
    rank=2,
    unseen=True,
)
STRING_HASHES: Final = Pattern("S19", (r"java\.lang\.String(Latin1|UTF16)?\.hashCode$",), own=True)
FORMATTED_STRINGS: Final = Pattern(
    "S20",
    (
        r"java\.lang\.String\.format(ted)?$",
        r"java\.util\.Formatter",
        r"java\.text\.MessageFormat\.format$",
        r"scala\.(collection\.)?(immutable\.)?StringOps\$?\.format",
        r"org\.apache\.commons\.lang3?\.text\.StrSubstitutor",
    ),
    rank=3,
    own=True,
)
REFLECTION: Final = Pattern(
    "S21",
    (
        r"java\.lang\.Class\.(forName|get(Declared)?(Method|Field|Constructor)s?|searchMethods|privateGet\w+)",
        r"java\.lang\.ClassLoader\.loadClass$",
        r"java\.lang\.invoke\.MethodHandles\$Lookup\.find",
        r"scala\.reflect\.(runtime|internal)\.",
        r"org\.apache\.commons\.beanutils\.",
    ),
    waits=True,
    own=True,
)
RANDOM_IDS: Final = Pattern(
    "S22",
    (r"java\.security\.SecureRandom\.(next|generate)", r"java\.util\.UUID\.randomUUID$"),
    rank=2,
    waits=True,
    own=True,
)
LARGE_NUMBERS: Final = Pattern(
    "S23", (r"java\.math\.(BigDecimal|BigInteger|MutableBigInteger|MathContext)", r"scala\.math\.Big(Decimal|Int)\b")
)
CODE_COMPILATION: Final = Pattern(
    "S24",
    (
        r"org\.codehaus\.(janino|commons\.compiler)\.",
        _CATALYST + r"expressions\.codegen\.CodeGenerator\$?\.(doC|c)ompile",
    ),
    rank=5,
    waits=True,
)

PATTERNS: Final = (
    COMPILED_PATTERNS,
    REGULAR_EXPRESSIONS,
    BOXED_VALUES,
    ROW_OBJECTS,
    OBJECTS_PER_ROW,
    CLIENTS_PER_ROW,
    JAVA_SERIALIZATION,
    DATES,
    FILE_LISTING,
    LOGGING,
    INTERPRETED,
    PYTHON_START,
    JSON_PARSING,
    COMPRESSION,
    EXCEPTIONS,
    STRING_HASHES,
    FORMATTED_STRINGS,
    REFLECTION,
    RANDOM_IDS,
    LARGE_NUMBERS,
    CODE_COMPILATION,
)
"""All of them. Where two of one rank mark one frame, the earlier one has it."""
