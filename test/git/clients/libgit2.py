# Does with libgit2 what it is told, line by line: see driver.ts.

import inspect
import os
import sys
import tempfile

import pygit2


class Callbacks(pygit2.RemoteCallbacks):
    def __init__(self):
        super().__init__()
        self.asked = 0
        self.refused = []

    def credentials(self, url, username_from_url, allowed_types):
        # It asks again and again.
        self.asked += 1
        if self.asked > 1:
            raise pygit2.GitError("authentication: the credential was refused")
        return pygit2.UserPass(os.environ["CLIENT_USER"], os.environ["CLIENT_PASSWORD"])

    def push_update_reference(self, refname, message):
        if message is not None:
            self.refused.append(f"{refname}: {message}")


class Cannot(Exception):
    pass


def depth_of(function, depth):
    if depth == "0":
        return {}
    if "depth" not in inspect.signature(function).parameters:
        raise Cannot(f"shallow clones, before pygit2 1.13 (this is {pygit2.__version__})")
    return {"depth": int(depth)}


def list_refs(url):
    with tempfile.TemporaryDirectory() as scratch:
        remote = pygit2.init_repository(scratch, True).remotes.create("there", url)
        return [f"{ref['name']} {ref['oid']}" for ref in remote.ls_remotes(Callbacks())]


def clone(url, path, depth):
    pygit2.clone_repository(url, path, callbacks=Callbacks(), **depth_of(pygit2.clone_repository, depth))


def fetch(path, depth):
    remote = pygit2.Repository(path).remotes["origin"]
    remote.fetch(callbacks=Callbacks(), **depth_of(remote.fetch, depth))


def push(url, path, *refspecs):
    callbacks = Callbacks()
    remotes = pygit2.Repository(path).remotes
    try:
        remotes.create("there", url).push(list(refspecs), callbacks=callbacks)
    finally:
        remotes.delete("there")
    if callbacks.refused:
        raise pygit2.GitError("; ".join(callbacks.refused))


COMMANDS = {"list": list_refs, "clone": clone, "fetch": fetch, "push": push}

for line in sys.stdin:
    verb, *args = line.rstrip("\n").split("\t")
    try:
        answer = ["ok", *(COMMANDS[verb](*args) or [])]
    except Cannot as reason:
        answer = ["cannot", str(reason)]
    except Exception as error:
        answer = ["no", f"{type(error).__name__}: {error}"]
    print("\t".join(" ".join(field.split()) for field in answer), flush=True)
