/** Place of a syntax error, both counted from 1, and what was expected there. */
export type JsonError = { readonly line: number; readonly column: number; readonly expected: string };

const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

/** Finds the first syntax error of a JSON text; null if there is none. `JSON.parse` does not name the place of all. */
export function findJsonError(text: string): JsonError | null {
  const open: ('{' | '[')[] = [];
  let state: 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'next' = 'value';
  let at = 0;
  for (;;) {
    at = skip(/[ \t\r\n]*/y, text, at);
    const char = text[at];
    if (state === 'next' && open.length === 0) {
      return char === undefined ? null : errorAt(text, at, 'nothing more');
    }
    if (state === 'next') {
      const close: string = open.at(-1) === '{' ? '}' : ']';
      if (char !== ',' && char !== close) return errorAt(text, at, `"," or "${close}"`);
      if (char === ',') state = close === '}' ? 'key' : 'value';
      else open.pop();
      at++;
      continue;
    }
    if ((state === 'key or }' && char === '}') || (state === 'value or ]' && char === ']')) {
      open.pop();
      state = 'next';
      at++;
      continue;
    }
    if (state === ':') {
      if (char !== ':') return errorAt(text, at, '":"');
      state = 'value';
      at++;
      continue;
    }
    const isKey: boolean = state === 'key' || state === 'key or }';
    if (!isKey && (char === '{' || char === '[')) {
      open.push(char);
      state = char === '{' ? 'key or }' : 'value or ]';
      at++;
      continue;
    }
    const end = char === '"' ? stringEnd(text, at) : isKey ? at : skip(scalar, text, at);
    if (end === at) return errorAt(text, at, isKey ? 'a name in double quotes' : 'a value');
    state = isKey ? ':' : 'next';
    at = end;
  }
}

/** Returns the end of the string at `start`, or `start` if there is none. A single pattern overflows on long strings. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char < ' ') return start;
    const next = char === '\\' ? skip(escaped, text, at) : at + 1;
    if (next === at) return start;
    at = next;
  }
  return start;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function errorAt(text: string, at: number, expected: string): JsonError {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, expected };
}
