/** The ports as they were last read, and what keeps them from being read or written. */
import { readErrorMessage } from "../core/error-message.ts";
import { emptyBook, listPorts, type PortBook } from "./ports.ts";
import { findStoreProblem, readPorts, readPortsStamp, type StorePaths } from "./store.ts";

export interface BookReaderOptions {
  readonly paths: StorePaths;
  /** The projects of the book that keep their ports in a file of their own. */
  readonly listShared: (book: PortBook) => readonly string[];
  readonly onProblem: (text: string) => void;
}

export interface BookReader {
  book(): PortBook;
  /** Reads the ports again if they have changed. After an error the last ones hold. Returns the book before, if it has changed. */
  refresh(): PortBook | null;
  /** The next `refresh` reads the ports: which projects have files of their own may have changed. */
  forget(): void;
  /** Whether an edit in the project may be refused. Not if the user could not start a port: they cannot be read or written. */
  canBlock(project: string | null): boolean;
}

export function createBookReader({ paths, listShared, onProblem }: BookReaderOptions): BookReader {
  let book: PortBook = emptyBook;
  let stamp = "";
  /** Why the ports cannot be read. null if they can. */
  let problem: string | null = null;
  /** Projects whose own file cannot be read, and why. It is theirs, so the others are not affected. */
  let damaged: ReadonlyMap<string, string> = new Map();
  let writeProblem: string | null = null;

  function read(): PortBook {
    const unreadable = new Map<string, string>();
    const read = readPorts(paths, listShared(readPorts(paths)), (project, error) => {
      unreadable.set(project, readErrorMessage(error));
      return listPorts(book, project);
    });
    if (problem !== null) onProblem("the ports can be read again");
    problem = null;
    for (const [project, text] of unreadable)
      if (damaged.get(project) !== text)
        onProblem(`${text} Until then the work guard lets every edit of this project through.`);
    damaged = unreadable;
    return read;
  }

  return {
    book: () => book,
    refresh() {
      if (readPortsStamp(paths, listShared(book)) === stamp) return null;
      const before = book;
      try {
        book = read();
      } catch (error) {
        const text = readErrorMessage(error);
        if (problem !== text) onProblem(`${text} Until then the work guard lets every edit through.`);
        problem = text;
      }
      stamp = readPortsStamp(paths, listShared(book));
      return book === before ? null : before;
    },
    forget() {
      stamp = "";
    },
    canBlock(project) {
      if (problem !== null || damaged.has(project ?? "")) return false;
      const lastProblem = writeProblem;
      writeProblem = findStoreProblem(paths);
      if (writeProblem !== null && writeProblem !== lastProblem)
        onProblem(`the work guard lets edits through: ports cannot be written (${writeProblem})`);
      return writeProblem === null;
    },
  };
}
