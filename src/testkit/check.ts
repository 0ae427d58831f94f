/** Null, or a sentence on what is wrong at `path`. */
export type Check = (value: unknown, path: string) => string | null;

export function is(what: string, test: (value: unknown) => boolean): Check {
  return (value, path) => (test(value) ? null : `${path} has to be ${what}, not ${show(value)}`);
}

export function oneOf(...words: readonly string[]): Check {
  return is(words.map((word) => `"${word}"`).join(' or '), (value) => words.some((word) => word === value));
}

export function listOf(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} has to be a list, not ${show(value)}`;
    return first(value.map((item, index) => check(item, `${path}[${index}]`)));
  };
}

export function notEmpty(check: Check): Check {
  return (value, path) =>
    Array.isArray(value) && value.length === 0
      ? `${path} has to have at least one entry`
      : check(value, path);
}

export function record(needed: Record<string, Check>, optional: Record<string, Check> = {}): Check {
  const known = { ...needed, ...optional };
  return (value, path) => {
    const problem = isRecord(value, path);
    if (problem !== null) return problem;
    const fields = new Map(Object.entries(Object(value)));
    const stranger = [...fields.keys()].find((name) => !Object.hasOwn(known, name));
    if (stranger !== undefined) return `${path} has an unknown field "${stranger}"`;
    return first(
      Object.entries(known).map(([name, check]) =>
        fields.has(name) || Object.hasOwn(needed, name) ? check(fields.get(name), `${path}.${name}`) : null,
      ),
    );
  };
}

export function isRecord(value: unknown, path: string): string | null {
  const ok = typeof value === 'object' && value !== null && !Array.isArray(value);
  return ok ? null : `${path} has to be an object, not ${show(value)}`;
}

export function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

function first(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
