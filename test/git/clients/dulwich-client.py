# Does with dulwich what it is told, line by line: see driver.ts.

import io
import os
import sys

from dulwich import porcelain
from dulwich.repo import Repo

ACCESS = {"username": os.environ["CLIENT_USER"], "password": os.environ["CLIENT_PASSWORD"]}


def depth_of(depth):
    return {} if depth == "0" else {"depth": int(depth)}


def list_refs(url):
    return [f"{name.decode()} {oid.decode()}" for name, oid in porcelain.ls_remote(url, **ACCESS).items()]


def clone(url, path, depth):
    if porcelain.ls_remote(url, **ACCESS):
        porcelain.clone(url, path, errstream=io.BytesIO(), **depth_of(depth), **ACCESS).close()
        return
    # It clones nothing where no HEAD is told, whoever serves it.
    with Repo.init(path, mkdir=True) as repo:
        porcelain.remote_add(repo, "origin", url)


def fetch(path, depth):
    porcelain.fetch(path, "origin", errstream=io.BytesIO(), **depth_of(depth), **ACCESS)


def push(url, path, *refspecs):
    said = io.BytesIO()
    porcelain.push(path, url, list(refspecs), outstream=io.BytesIO(), errstream=said, **ACCESS)
    # What becomes of each ref is only printed.
    if b"failed:" in said.getvalue():
        raise porcelain.Error(said.getvalue().decode())


COMMANDS = {"list": list_refs, "clone": clone, "fetch": fetch, "push": push}

for line in sys.stdin:
    verb, *args = line.rstrip("\n").split("\t")
    try:
        answer = ["ok", *(COMMANDS[verb](*args) or [])]
    except Exception as error:
        answer = ["no", f"{type(error).__name__}: {error}"]
    print("\t".join(" ".join(field.split()) for field in answer), flush=True)
