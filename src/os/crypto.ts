// Loaded at the first use: it takes 4 ms, and most starts do not need it.
function crypto() {
  return process.getBuiltinModule('node:crypto');
}

export function sha256(content: string | Uint8Array): string {
  return crypto().createHash('sha256').update(content).digest('hex');
}

/** Returns random hexadecimal digits, two for each byte. */
export function randomHex(bytes: number): string {
  return crypto().randomBytes(bytes).toString('hex');
}
