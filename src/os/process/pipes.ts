// More than a pipe or a socket pair holds on any of our platforms.
const pipeBytes = 16 * 1024 * 1024;

/**
 * Resolves when the pipes are closed, or, if a process outside the tree keeps them open, when two turns of the event
 * loop brought nothing. Reads no more of such a process than the pipes can have held.
 */
export function pipesEmpty(received: () => number, isClosed: () => boolean): Promise<void> {
  const first = received();
  let last = first;
  let quietTurns = 0;
  return new Promise((resolve) => {
    const look = () => {
      quietTurns = received() === last ? quietTurns + 1 : 0;
      last = received();
      if (isClosed() || quietTurns === 2 || last - first > pipeBytes) return resolve();
      setImmediate(look);
    };
    setImmediate(look);
  });
}

/** Keeps the first `maxBytes` of a stream and drops the rest. */
export function collect(maxBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let truncated = false;
  return {
    add(chunk: Buffer): void {
      const part = chunk.subarray(0, maxBytes - bytes);
      truncated ||= part.length < chunk.length;
      bytes += part.length;
      if (part.length > 0) chunks.push(part);
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
    truncated: () => truncated,
  };
}
