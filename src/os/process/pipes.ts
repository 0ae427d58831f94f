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
