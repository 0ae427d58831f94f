export class Fields {
  readonly #ifs: RegExp;
  readonly #fields: string[] = [];
  #current: string | null = null;

  constructor(ifs: string) {
    this.#ifs = ifs === '' ? /(?!)/ : new RegExp(`[${ifs.replace(/[\\\]^-]/g, '\\$&')}]+`);
  }

  add(text: string, whole: boolean): void {
    if (whole) {
      this.#current = (this.#current ?? '') + text;
      return;
    }
    text.split(this.#ifs).forEach((piece, index) => {
      if (index > 0) this.break();
      if (piece !== '') this.#current = (this.#current ?? '') + piece;
    });
  }

  /** Adds one word for each value; the first joins what stands before it. */
  addEach(values: readonly string[], whole: boolean): void {
    values.forEach((value, index) => {
      if (index > 0) this.break();
      this.add(value, whole);
    });
  }

  break(): void {
    if (this.#current !== null) this.#fields.push(this.#current);
    this.#current = null;
  }

  done(): string[] {
    this.break();
    return this.#fields;
  }
}
