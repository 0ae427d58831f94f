import { isObject } from '../core/json.ts';

/** How a login file from inside differs from the one that went in. `unproven` is without a sign of whose it is. */
export type LoginChange = 'same-account' | 'other-account' | 'unproven' | 'no-renewal';

type Fields = Readonly<Record<string, unknown>>;
/** An object of the file whose own tokens were changed. */
type Renewed = { readonly before: Fields; readonly after: Fields };

/** Compares two versions of a login file. It is a renewal if only tokens and their times differ. */
export function compareLogins(before: string, after: string): LoginChange {
  const renewed: Renewed[] = [];
  try {
    if (!isRenewal(JSON.parse(before), JSON.parse(after), renewed)) return 'no-renewal';
    const accounts = renewed.map(
      (each) => [accountIn(each.before), accountIn(each.after, each.before)] as const,
    );
    if (accounts.some(([own]) => own === null)) return 'unproven';
    return accounts.every(([own, other]) => own === other) ? 'same-account' : 'other-account';
  } catch {
    return 'no-renewal';
  }
}

/** True if nothing is added, removed or of another type, and only tokens and times differ. Collects where tokens do. */
function isRenewal(before: unknown, after: unknown, renewed: Renewed[]): boolean {
  if (!isObject(before) || !isObject(after)) return JSON.stringify(before) === JSON.stringify(after);
  const names = Object.keys(before);
  if (names.length !== Object.keys(after).length) return false;
  return names.every((name) => {
    const [own, other] = [before[name], after[name]];
    if (!Object.hasOwn(after, name)) return false;
    if (isObject(own) || JSON.stringify(own) === JSON.stringify(other)) return isRenewal(own, other, renewed);
    if (typeof own !== typeof other || typeof other === 'object') return false;
    if (!/token|expir|refresh|^(access|key)$/i.test(name)) return false;
    if (!isTime(own) || !isTime(other)) renewed.push({ before, after });
    return true;
  });
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' || /^\d{4}-\d\d-\d\dT[\d:.+Z-]+$/.test(String(value));
}

const accountField = /^(account|email|login|user|(account|user)_?(id|uuid|name))$/i;
const accountClaim = /^(sub|email|\w*(account|user)_?(id|uuid))$/i;

/** Returns whose tokens these are: by the tokens themselves if those of `like` tell it, else by the fields beside them. */
function accountIn(fields: Fields, like = fields): string | null {
  const claims = tokenClaims(like).length > 0 ? tokenClaims(fields) : entriesOf(fields, accountField);
  return claims.length === 0 ? null : JSON.stringify(claims.sort());
}

/** Returns what the JSON Web Tokens among the fields say about their account. Nobody here can check their signatures. */
function tokenClaims(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const payload = typeof value === 'string' ? /^eyJ[\w-]+\.(eyJ[\w-]+)\./.exec(value)?.[1] : undefined;
    if (payload === undefined) return [];
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (!isObject(claims)) return [];
    // OpenAI has them one level deeper, under an address of its own.
    const deeper = Object.values(claims).filter(isObject);
    return [claims, ...deeper]
      .flatMap((each) => entriesOf(each, accountClaim))
      .map((each) => `${name} ${each}`);
  });
}

function entriesOf(fields: Fields, names: RegExp): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    names.test(name) && typeof value === 'string' ? [`${name}=${value}`] : [],
  );
}
