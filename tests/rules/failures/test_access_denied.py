from __future__ import annotations

import pytest

from emberscope.rules.failures.access_denied import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

AT = "22/01/01 00:00:00 ERROR ApplicationMaster: User class threw exception: "
# FSPermissionChecker of Hadoop.
HDFS = (
    AT + "org.apache.hadoop.security.AccessControlException: Permission denied: user=alice, access=WRITE, "
    'inode="/user":hdfs:supergroup:drwxr-xr-x'
)
# The EMR guide, 5.2.5.2.
S3 = (
    AT
    + "com.amazon.ws.emr.hadoop.fs.shaded.com.amazonaws.services.s3.model.AmazonS3Exception: Access Denied (Service: "
    "Amazon S3; Status Code: 403; Error Code: AccessDenied; Request ID: 0123456789ABCDEF)"
)
# Hadoop's SaslRpcClient and AbstractDelegationTokenSecretManager.
KERBEROS = AT + "org.apache.hadoop.security.AccessControlException: Client cannot authenticate via:[TOKEN, KERBEROS]"
TOKEN = AT + "token (HDFS_DELEGATION_TOKEN token 12 for alice) can't be found in cache"
# Hadoop's AWSCredentialProviderList.
MISSING = (
    AT + "org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials provided by "
    "SimpleAWSCredentialsProvider"
)
WRONG = (
    AT + "AmazonS3Exception: The AWS Access Key Id you provided does not exist in our records. (Error Code: "
    "InvalidAccessKeyId)"
)
# STS and S3, as the SDK prints it.
EXPIRED = (
    AT + "AmazonS3Exception: The provided token has expired. (Service: Amazon S3; Status Code: 400; Error Code: "
    "ExpiredToken)"
)
# The API server of Kubernetes.
PODS = (
    AT + "Failure executing: POST at: https://k8s/api/v1/namespaces/jobs/pods. Message: pods is forbidden: User "
    '"system:serviceaccount:jobs:default" cannot create resource "pods" in API group "" in the namespace "jobs".'
)
IAM = (
    AT + "User: arn:aws:sts::123456789012:assumed-role/r/i is not authorized to perform: glue:GetTable on resource: "
    "arn:aws:glue:us-east-1:123456789012:catalog because no policy allows it"
)
GCS = AT + "403 Forbidden: job@p.iam.gserviceaccount.com does not have storage.objects.get access to the object."
AZURE = (
    AT + "Operation failed: This request is not authorized to perform this operation using this permission., 403, HEAD"
)


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        (HDFS, "User alice may not write /user", "setfacl"),
        (S3, "S3 refused access", "bucket policy"),
        (KERBEROS, "Kerberos or a delegation token", "--keytab"),
        (TOKEN, "Kerberos or a delegation token", "--keytab"),
        (MISSING, "No credentials were found", "role"),
        (WRONG, "not accepted (InvalidAccessKeyId)", "region"),
        (EXPIRED, "Temporary credentials expired", "renews"),
        (PODS, "refuses system:serviceaccount:jobs:default to create pods", "rolebinding"),
        (IAM, "may not perform glue:GetTable", "policy of the role"),
        (GCS, "job@p.iam.gserviceaccount.com lacks storage.objects.get", "objectViewer"),
        (AZURE, "Azure Storage refused", "Storage Blob Data Contributor"),
    ],
)
def test_who_may_not_do_what(text: str, title: str, words: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert title in finding.title
    assert any(words in advice.text for advice in finding.advice)
    assert finding.consequence == "ended"


def test_the_path_is_named() -> None:
    text = (
        'Exception in thread "main" java.nio.file.AccessDeniedException: s3a://a/b: getFileStatus on s3a://a/b: '
        "AmazonS3Exception: Forbidden (Service: Amazon S3; Status Code: 403)"
    )
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith("S3 refused access to s3a://a/b (403, no reason given)")


def test_request_ids_are_there_for_support() -> None:
    (finding,) = found(RULE, run_of_log(S3))
    assert "0123456789ABCDEF" in finding.summary


def test_healthy_lines() -> None:
    text = (
        "22/01/01 00:00:00 INFO SecurityManager: SecurityManager: authentication disabled; ui acls disabled\n"
        "22/01/01 00:00:01 INFO HadoopDelegationTokenManager: Scheduling renewal in 18.0 h.\n"
        "22/01/01 00:00:02 INFO CodeGenerator: Code generated in 403.1 ms"
    )
    assert found(RULE, run_of_log(text)) == []


# Recorded with Spark 4.3.0 and hadoop-aws 3.5.0: the access key is unknown to the server.
BARE = (
    "java.nio.file.AccessDeniedException: s3a://shop/orders: getFileStatus on s3a://shop/orders: "
    "software.amazon.awssdk.services.s3.model.S3Exception: FORBIDDEN (Service: S3, Status Code: 403, Request ID: "
    "Ggko9wPS4eWA5rWs):null"
)


def test_an_answer_without_a_reason_does_not_say_that_the_key_is_known():
    (finding,) = found(RULE, run_of_log(BARE))
    assert "wrong access key or secret, or missing rights" in finding.title
    assert "cannot be told" in finding.summary
    assert "get-caller-identity" in finding.advice[0].text
