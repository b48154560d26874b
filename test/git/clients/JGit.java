// Does with JGit what it is told, line by line: see driver.ts.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.TransportCommand;
import org.eclipse.jgit.lib.Ref;
import org.eclipse.jgit.transport.CredentialsProvider;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.RemoteRefUpdate.Status;
import org.eclipse.jgit.transport.UsernamePasswordCredentialsProvider;

public class JGit {
  static class Cannot extends Exception {
    Cannot(String what) {
      super(what);
    }
  }

  static final CredentialsProvider CREDENTIALS =
      new UsernamePasswordCredentialsProvider(System.getenv("CLIENT_USER"), System.getenv("CLIENT_PASSWORD"));

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      List<String> words = Arrays.asList(line.split("\t"));
      System.out.println(answer(words.get(0), words.subList(1, words.size())));
    }
  }

  static String answer(String verb, List<String> arguments) {
    try {
      List<String> said = new ArrayList<>(List.of("ok"));
      switch (verb) {
        case "list" -> said.addAll(list(arguments.get(0)));
        case "clone" -> cloneTo(arguments.get(0), arguments.get(1), arguments.get(2));
        case "fetch" -> fetch(arguments.get(0), arguments.get(1));
        case "push" -> push(arguments.get(0), arguments.get(1), arguments.subList(2, arguments.size()));
        default -> throw new IllegalArgumentException(verb);
      }
      return String.join("\t", said);
    } catch (Cannot reason) {
      return "cannot\t" + reason.getMessage();
    } catch (Exception error) {
      return "no\t" + String.valueOf(error).replaceAll("\\s+", " ");
    }
  }

  static List<String> list(String url) throws Exception {
    List<String> found = new ArrayList<>();
    for (Ref ref : Git.lsRemoteRepository().setRemote(url).setCredentialsProvider(CREDENTIALS).call())
      found.add(ref.getName() + " " + ref.getObjectId().name());
    return found;
  }

  static void cloneTo(String url, String directory, String depth) throws Exception {
    var command = Git.cloneRepository().setURI(url).setDirectory(new File(directory));
    command.setCredentialsProvider(CREDENTIALS);
    setDepth(command, depth);
    command.call().close();
  }

  static void fetch(String directory, String depth) throws Exception {
    try (Git git = Git.open(new File(directory))) {
      var command = git.fetch().setRemote("origin").setCredentialsProvider(CREDENTIALS);
      setDepth(command, depth);
      command.call();
    }
  }

  /** Newer ones can. */
  static void setDepth(TransportCommand<?, ?> command, String depth) throws Exception {
    if (depth.equals("0")) return;
    try {
      command.getClass().getMethod("setDepth", int.class).invoke(command, Integer.parseInt(depth));
    } catch (NoSuchMethodException error) {
      throw new Cannot("shallow clones, before JGit 6.3");
    }
  }

  static void push(String url, String directory, List<String> refspecs) throws Exception {
    try (Git git = Git.open(new File(directory))) {
      RefSpec[] specs = refspecs.stream().map(RefSpec::new).toArray(RefSpec[]::new);
      var command = git.push().setRemote(url).setRefSpecs(specs).setCredentialsProvider(CREDENTIALS);
      for (PushResult result : command.call())
        for (RemoteRefUpdate update : result.getRemoteUpdates())
          if (update.getStatus() != Status.OK && update.getStatus() != Status.UP_TO_DATE)
            throw new Exception(update.getRemoteName() + " " + update.getStatus() + " " + update.getMessage());
    }
  }
}
