export type OnDemand<T> = { readonly module: T; readonly load: () => Promise<void> };

/** Thrown where a judgement needs a module that is not loaded yet. A judgement changes nothing, so it can start again. */
class NotLoaded extends Error {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super('this takes a module that is not loaded');
    this.load = load;
  }
}

export function onDemand<T>(load: () => Promise<T>): OnDemand<T> {
  let current: T | undefined;
  const keep = async () => {
    current = await load();
  };
  return {
    load: keep,
    get module() {
      if (current === undefined) throw new NotLoaded(keep);
      return current;
    },
  };
}

/** Judges, and again with each module that the judgement turns out to need. */
export async function withModules<T>(judge: () => T): Promise<T> {
  for (;;) {
    try {
      return judge();
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      await error.load();
    }
  }
}
