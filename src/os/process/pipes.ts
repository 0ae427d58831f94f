// More than a pipe or a socket pair holds on any of our platforms.
const pipeBytes = 16 * 1024 * 1024;

/**
 * Resolves when the pipes are at their end, or when two turns of the event loop brought nothing although somebody
 * outside the tree holds them open. Whoever goes on writing is heard for no more than the pipes can have held.
 */
export function pipesEmpty(received: () => number, closed: () => boolean): Promise<void> {
  const first = received();
  let last = first;
  let quietTurns = 0;
  return new Promise((resolve) => {
    const look = () => {
      quietTurns = received() === last ? quietTurns + 1 : 0;
      last = received();
      if (closed() || quietTurns === 2 || last - first > pipeBytes) return resolve();
      setImmediate(look);
    };
    setImmediate(look);
  });
}

/** Keeps the first `maxBytes` of a stream and lets the rest go by. */
export function collect(maxBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let truncated = false;
  return {
    add(chunk: Buffer): void {
      const kept = chunk.subarray(0, maxBytes - bytes);
      truncated ||= kept.length < chunk.length;
      bytes += kept.length;
      if (kept.length > 0) chunks.push(kept);
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
    truncated: () => truncated,
  };
}
