import { createHash } from 'node:crypto';

/**
 * The code with a hash of it in its first line, which tells whether what V8 made of the file is still of use
 * (`src/system/code-cache.ts`).
 */
export function withHash(code) {
  return `// ${createHash('sha256').update(code).digest('hex').slice(0, 32)}\n${code}`;
}
