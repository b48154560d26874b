// Does with go-git what it is told, line by line: see driver.ts.

package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"
)

var access = &http.BasicAuth{Username: os.Getenv("CLIENT_USER"), Password: os.Getenv("CLIENT_PASSWORD")}

func remoteAt(url string) *config.RemoteConfig {
	return &config.RemoteConfig{Name: "there", URLs: []string{url}}
}

func list(url string) ([]string, error) {
	refs, err := git.NewRemote(memory.NewStorage(), remoteAt(url)).List(&git.ListOptions{Auth: access})
	found := []string{}
	// It has no other word for an empty one.
	if err == transport.ErrEmptyRemoteRepository {
		return found, nil
	}
	for _, ref := range refs {
		found = append(found, ref.Name().String()+" "+ref.Hash().String())
	}
	return found, err
}

func clone(url string, path string, depth int) error {
	_, err := git.PlainClone(path, false, &git.CloneOptions{URL: url, Auth: access, Depth: depth})
	if err != transport.ErrEmptyRemoteRepository {
		return err
	}
	repo, err := git.PlainInit(path, false)
	if err != nil {
		return err
	}
	_, err = repo.CreateRemote(&config.RemoteConfig{Name: "origin", URLs: []string{url}})
	return err
}

func fetch(path string, depth int) error {
	repo, err := git.PlainOpen(path)
	if err != nil {
		return err
	}
	return repo.Fetch(&git.FetchOptions{RemoteName: "origin", Auth: access, Depth: depth})
}

func push(url string, path string, refspecs []string) error {
	repo, err := git.PlainOpen(path)
	if err != nil {
		return err
	}
	specs := []config.RefSpec{}
	for _, spec := range refspecs {
		specs = append(specs, config.RefSpec(spec))
	}
	remote := git.NewRemote(repo.Storer, remoteAt(url))
	return remote.Push(&git.PushOptions{RemoteName: "there", RefSpecs: specs, Auth: access})
}

func answer(words []string) (said []string, err error) {
	switch words[0] {
	case "list":
		return list(words[1])
	case "clone":
		depth, _ := strconv.Atoi(words[3])
		return nil, clone(words[1], words[2], depth)
	case "fetch":
		depth, _ := strconv.Atoi(words[2])
		return nil, fetch(words[1], depth)
	case "push":
		return nil, push(words[1], words[2], words[3:])
	}
	return nil, fmt.Errorf("%s is not known", words[0])
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		said, err := answer(strings.Split(lines.Text(), "\t"))
		// Nothing to do is told as an error.
		if err != nil && err != git.NoErrAlreadyUpToDate {
			said = []string{"no", strings.Join(strings.Fields(err.Error()), " ")}
		} else {
			said = append([]string{"ok"}, said...)
		}
		fmt.Println(strings.Join(said, "\t"))
	}
}
