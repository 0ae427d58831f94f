/** What JSON has to look like: one shape checks a value, converts it, types it and describes itself as JSON Schema. */
export type Shape<In, Out = In> = {
  readonly schema: JsonSchema;
  /** The converted value, or undefined after adding to `problems`. */
  read(value: unknown, path: Path, problems: Problem[]): Out | undefined;
  /** Never there: it carries the type of what may be written. */
  readonly written?: In;
};

export type JsonSchema = { readonly [keyword: string]: unknown };
export type Path = readonly (string | number)[];

/** What is wrong at `path`: a value that is not as expected, or a name that is not known there. */
export type Problem =
  | { readonly kind: 'value'; readonly path: Path; readonly expected: string }
  | { readonly kind: 'name'; readonly path: Path; readonly name: string; readonly known: readonly string[] };

type Presence = 'required' | 'optional' | 'preset';

/** A named part of an object, and what it is for. */
export type Field<In, Out, P extends Presence> = {
  readonly shape: Shape<In, Out>;
  readonly presence: P;
  readonly fallback?: unknown;
  readonly description: string;
};

export type Fields = Readonly<Record<string, Field<unknown, unknown, Presence>>>;

/** What may be written for a shape. */
export type Input<S> = S extends Shape<infer In, unknown> ? In : never;
/** What a shape makes of it. */
export type Output<S> = S extends Shape<unknown, infer Out> ? Out : never;

type Flat<T> = { readonly [K in keyof T]: T[K] };
type Named<F extends Fields, P extends Presence> = {
  [K in keyof F]: F[K]['presence'] extends P ? K : never;
}[keyof F];
type ObjectInput<F extends Fields> = Flat<
  { [K in Named<F, 'required'>]: Input<F[K]['shape']> } & {
    [K in Named<F, 'optional' | 'preset'>]?: Input<F[K]['shape']>;
  }
>;
type ObjectOutput<F extends Fields> = Flat<
  { [K in Named<F, 'required' | 'preset'>]: Output<F[K]['shape']> } & {
    [K in Named<F, 'optional'>]?: Output<F[K]['shape']>;
  }
>;

export function required<In, Out>(shape: Shape<In, Out>, description: string): Field<In, Out, 'required'> {
  return { shape, presence: 'required', description };
}

export function optional<In, Out>(shape: Shape<In, Out>, description: string): Field<In, Out, 'optional'> {
  return { shape, presence: 'optional', description };
}

/** A part with a default, given as it would be written. */
export function preset<In, Out>(
  shape: Shape<In, Out>,
  fallback: NoInfer<In>,
  description: string,
): Field<In, Out, 'preset'> {
  return { shape, presence: 'preset', fallback, description };
}

/** A value that is taken as it is when `fits` says so. */
export function simple<T>(
  expected: string,
  schema: JsonSchema,
  fits: (value: unknown) => value is T,
): Shape<T> {
  return {
    schema,
    read(value, path, problems) {
      if (fits(value)) return value;
      problems.push({ kind: 'value', path, expected });
      return undefined;
    },
  };
}

export function oneOf<const T extends string>(...words: T[]): Shape<T> {
  const expected = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return simple(expected, { enum: words }, (value): value is T => words.some((word) => word === value));
}

/** The shape with its value turned into another; where `turn` has no answer the value is not as expected. */
export function convert<In, Middle, Out>(
  shape: Shape<In, Middle>,
  expected: string,
  turn: (value: Middle) => Out | undefined,
): Shape<In, Out> {
  return {
    schema: shape.schema,
    read(value, path, problems) {
      const inner = shape.read(value, path, problems);
      if (inner === undefined) return undefined;
      const turned = turn(inner);
      if (turned === undefined) problems.push({ kind: 'value', path, expected });
      return turned;
    },
  };
}

export function list<In, Out>(expected: string, item: Shape<In, Out>): Shape<readonly In[], readonly Out[]> {
  return {
    schema: { type: 'array', items: item.schema },
    read(value, path, problems) {
      if (!Array.isArray(value)) {
        problems.push({ kind: 'value', path, expected });
        return undefined;
      }
      return value.flatMap((entry, index) => item.read(entry, [...path, index], problems) ?? []);
    },
  };
}

/** An object whose names are the user's own. */
export function dictionary<In, Out>(
  expected: string,
  name: RegExp,
  entry: Shape<In, Out>,
): Shape<Readonly<Record<string, In>>, Readonly<Record<string, Out>>> {
  return {
    schema: { type: 'object', propertyNames: { pattern: name.source }, additionalProperties: entry.schema },
    read(value, path, problems) {
      if (!isObject(value) || !Object.keys(value).every((key) => name.test(key))) {
        problems.push({ kind: 'value', path, expected });
        return undefined;
      }
      const entries = Object.entries(value).map(([key, inner]) => [
        key,
        entry.read(inner, [...path, key], problems),
      ]);
      return Object.fromEntries(entries);
    },
  };
}

/** An object of known parts; any other name in it is a problem. */
export function object<const F extends Fields>(
  expected: string,
  fields: F,
): Shape<ObjectInput<F>, ObjectOutput<F>> {
  const known = Object.keys(fields);
  return {
    schema: objectSchema(fields),
    read(value, path, problems) {
      if (!isObject(value)) {
        problems.push({ kind: 'value', path, expected });
        return undefined;
      }
      for (const name of Object.keys(value)) {
        if (!Object.hasOwn(fields, name)) problems.push({ kind: 'name', path, name, known });
      }
      const read: Record<string, unknown> = {};
      for (const [name, { shape, presence, fallback }] of Object.entries(fields)) {
        const written = Object.hasOwn(value, name) ? value[name] : fallback;
        if (written === undefined && presence !== 'required') continue;
        read[name] = shape.read(written, [...path, name], problems);
      }
      return read as ObjectOutput<F>;
    },
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectSchema(fields: Fields): JsonSchema {
  const properties = Object.entries(fields).map(([name, { shape, description, fallback }]) => [
    name,
    { description, ...shape.schema, ...(fallback === undefined ? {} : { default: fallback }) },
  ]);
  const needed = Object.keys(fields).filter((name) => fields[name]?.presence === 'required');
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
  };
}
