/** A failure with words for a person: what happened (`message`) and the next command to type (`remedy`). */
export class GuardError extends Error {
  override readonly name = 'GuardError';
  readonly code: 'guard-input' | 'guard-policy' | 'usage';
  readonly remedy: string;

  constructor(code: GuardError['code'], message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}
