/** A scalar has one item, or several after branches that gave it different values. */
export type Value = { readonly items: readonly string[]; readonly array: boolean };

/**
 * The variables of a shell; those of a subshell lie over those of the shell around it, since a copy of all of them would
 * cost more than all that it does.
 */
export class Scope {
  readonly #below: Scope | undefined;
  #own: Map<string, Value | undefined> | undefined;

  constructor(below?: Scope) {
    this.#below = below;
  }

  get(name: string): Value | undefined {
    const value = this.#own?.get(name);
    return value !== undefined || this.#own?.has(name) ? value : this.#below?.get(name);
  }

  set(name: string, value: Value | undefined): void {
    this.#own ??= new Map();
    this.#own.set(name, value);
  }

  setText(name: string, text: string): void {
    this.set(name, scalar(text));
  }

  delete(name: string): void {
    this.set(name, undefined);
  }

  /** Yields the names set in this scope, without those of outer scopes. */
  *own(): Generator<[string, Value]> {
    for (const [name, value] of this.#own ?? []) if (value !== undefined) yield [name, value];
  }

  over(): Scope {
    return new Scope(this);
  }
}

export function scalar(text: string): Value {
  return { items: [text], array: false };
}
