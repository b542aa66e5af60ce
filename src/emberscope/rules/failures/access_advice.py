"""What to do about a refusal, by what refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from emberscope.rules.base import Advice

_CLUSTER: Final[dict[str, tuple[str, ...]]] = {
    "kerberos": (
        "For jobs longer than a ticket or token lives, start with --principal and --keytab: Spark then renews both.",
        "Name every secured file system that is read in spark.kerberos.access.hadoopFileSystems, so that tokens are "
        "fetched for all of them, and keep clocks in step (NTP).",
    ),
    "missing": (
        "Let driver and executors have a role (instance profile, service account of the pod) instead of keys; or name "
        "the provider in fs.s3a.aws.credentials.provider, with spark.hadoop. before it so that executors get it too.",
    ),
    "wrong": ("Check key, secret, fs.s3a.endpoint and region together; take a role instead of keys where one can be.",),
    "expired": (
        "Use a provider that renews (a role; AssumedRoleCredentialProvider), not session keys that are copied in.",
    ),
    "lake": ("Grant the role SELECT or DATA_LOCATION_ACCESS on the table or location in Lake Formation.",),
    "azure": ("Give the identity the role Storage Blob Data Contributor (or Reader), or an ACL on each folder above.",),
    "gcs": ("Grant the service account roles/storage.objectAdmin (or objectViewer) on the bucket.",),
    "s3": (
        "Go through them in this order: IAM policy of the role that executors run with (s3:GetObject, PutObject, "
        "DeleteObject, ListBucket), bucket policy, KMS key, VPC endpoint, access point, organization; use s3:// on "
        "EMR.",
    ),
}


def access_advice(kind: str, found: Mapping[str, str]) -> Iterator[Advice]:
    """`found` are the named groups of the line."""
    if kind == "hdfs":
        inode, user = found.get("inode", "the path"), found.get("user", "the user")
        yield Advice(
            "cluster",
            f"Let {user} have the {found.get('access', 'access')} right on {inode}: owner, group or an ACL (hdfs dfs "
            "-setfacl), or a Ranger policy; or run as a user that has it. A home folder that lacks (/user/…) is made "
            "once by the superuser.",
        )
    elif kind == "pods":
        yield Advice(
            "cluster",
            f"Bind the service account to a role that allows {found.get('verb')} on {found.get('resource')} (kubectl "
            "create rolebinding … --clusterrole=edit --serviceaccount=…), and name it in "
            "spark.kubernetes.authenticate.driver.serviceAccountName.",
        )
    elif kind == "account":
        account = found.get("nobody", "spark")
        yield Advice(
            "cluster",
            f"Create it where the pods are, and bind a role to it: `kubectl create serviceaccount {account}`, `kubectl "
            f"create rolebinding {account} --clusterrole=edit --serviceaccount=NAMESPACE:{account}`; or name another "
            "in spark.kubernetes.authenticate.driver.serviceAccountName.",
        )
        return
    elif kind == "iam":
        yield Advice(
            "cluster", f"Allow {found.get('action')} on {found.get('arn', 'the resource')} in the policy of the role."
        )
    elif kind == "bare":
        yield Advice(
            "check",
            "Ask who the key belongs to (`aws sts get-caller-identity`) with the credentials that this process has "
            "(fs.s3a.access.key, environment, role): if that fails, the key or secret is wrong; else the rights are.",
        )
    for text in _CLUSTER.get("s3" if kind == "bare" else kind, ()):
        yield Advice("cluster", text)
    yield Advice(
        "check",
        "Try the same path with the same user or role from an executor's node: the client's own tool says who it is "
        "and what is refused.",
    )
