// Loaded when it is needed and not before: it takes 4 ms, and most starts need none of it.
function crypto() {
  return process.getBuiltinModule('node:crypto');
}

/** In hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return crypto().createHash('sha256').update(content).digest('hex');
}

/** Twice as many hexadecimal digits as bytes, which nobody can guess. */
export function randomHex(bytes: number): string {
  return crypto().randomBytes(bytes).toString('hex');
}
