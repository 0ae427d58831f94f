/** Fields whose value says which kind of object this is; it becomes part of the path. */
const kinds = ['type', 'subtype', 'role', 'contentType', 'hookEventName', 'status', 'name', 'toolName'];

/** Every path of keys in a line of JSON, such as `<assistant>.message<message,assistant>.content[]<text>.text`. */
export function shapeOf(line: string): Set<string> {
  const found = new Set<string>();
  walk(JSON.parse(line), '', found);
  return found;
}

function walk(value: unknown, path: string, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, `${path}[]`, found);
    return;
  }
  if (typeof value === 'string' && value.startsWith('{')) {
    walk(inside(value), `${path}(json)`, found);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const fields = Object.entries(value);
  const words = fields.filter(([key, word]) => kinds.includes(key) && typeof word === 'string');
  const here = words.length === 0 ? path : `${path}<${words.map(([, word]) => word).sort()}>`;
  for (const [key, child] of fields) {
    found.add(`${here}.${key}`);
    walk(child, `${here}.${key}`, found);
  }
}

/** Some CLIs put JSON into a string of JSON. */
function inside(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
