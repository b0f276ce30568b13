/** A connection for requests that no proper client would send: takes bytes, returns the response. */

export interface RawResponse {
  /** 0 if the connection was closed without a response. */
  readonly status: number;
  readonly body: string;
}

export interface RawMessage {
  readonly bytes: Uint8Array;
  /** A response to HEAD has a length but no body. */
  readonly isHead?: boolean;
  /** The message does not end where it says, so the connection cannot be used again. */
  readonly isLast?: boolean;
}

export interface RawConnection {
  /** One message at a time. Rejects if no response arrives in time. */
  send(sending: RawMessage): Promise<RawResponse>;
  close(): void;
}

const maxResponseMs = 20_000;

export function createRawConnection(port: number): RawConnection {
  let socket: Bun.Socket | null = null;
  let rest: Uint8Array = new Uint8Array();
  let received = "";
  let isHead = false;
  let waiting: { resolve(answer: RawResponse): void; reject(error: Error): void } | null = null;

  function settle(answer: RawResponse): void {
    const answered = waiting;
    waiting = null;
    received = "";
    rest = new Uint8Array();
    answered?.resolve(answer);
  }

  function write(to: Bun.Socket): void {
    if (rest.length > 0) rest = rest.subarray(Math.max(0, to.write(rest)));
  }

  function lost(from: Bun.Socket): void {
    if (socket !== from) return;
    socket = null;
    settle({ status: parseStatus(received), body: "" });
  }

  async function open(): Promise<Bun.Socket> {
    return Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        drain: write,
        data(from, chunk) {
          received += Buffer.from(chunk).toString("latin1");
          const answer = parseResponse(received, isHead);
          if (answer === null) return;
          // Answered before everything was sent: the rest would be read as the next request.
          if (answer.closes || rest.length > 0) {
            socket = null;
            from.end();
          }
          settle(answer);
        },
        close: lost,
        end: lost,
        error: lost,
      },
    });
  }

  return {
    async send(sending) {
      const to = socket ?? (await open());
      socket = to;
      isHead = sending.isHead ?? false;
      rest = sending.bytes;
      const timer = setTimeout(
        () => waiting?.reject(new Error(`no response within ${maxResponseMs} ms`)),
        maxResponseMs,
      );
      const answer = await new Promise<RawResponse>((resolve, reject) => {
        waiting = { resolve, reject };
        write(to);
      }).finally(() => clearTimeout(timer));
      if (sending.isLast) this.close();
      return answer;
    },
    close() {
      const open = socket;
      socket = null;
      open?.end();
    },
  };
}

function parseStatus(text: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0);
}

function parseResponse(text: string, isHead: boolean): (RawResponse & { closes: boolean }) | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = text.slice(0, end);
  const length = isHead ? 0 : Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const body = text.slice(end + 4);
  if (body.length < length) return null;
  return { status: parseStatus(head), body, closes: /^connection: *close/im.test(head) };
}
