import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { clusterAddress, isInTheClear, placeOf } from './address.ts';

const forms = [
  ['redis://store', 'redis://store:6379/0', false],
  ['rediss://user@store:7000/3', 'rediss://store:7000/3', true],
  ['redis://[::1]:7000', 'redis://[::1]:7000/0', false],
] as const;

const wrong = [
  'store:6379',
  'http://store',
  'redis://',
  'redis://store/x',
  'redis://store?password=x',
  'rediss://store?sslmode=verify-full',
];

describe('the address of a cluster', () => {
  it.each(forms)('%s is %s', (text, place, tls) => {
    const address = clusterAddress(text, {});
    expect(address && placeOf(address)).toBe(place);
    expect(address?.tls !== null).toBe(tls);
  });

  it.each(wrong)('%s is refused', (text) => {
    expect(() => clusterAddress(text, {})).toThrow();
  });

  it.each(['postgres://me@db/fleet', 'postgresql://db', 'postgres:db'])(
    '%s names what works instead',
    (text) => {
      const remedy = expect.stringContaining('redis://');
      expect(() => clusterAddress(text, {})).toThrow(
        expect.objectContaining({ message: expect.stringContaining('only on Redis and Valkey'), remedy }),
      );
    },
  );

  it('comes from the environment where nothing is typed, and is none where there is neither', () => {
    expect(clusterAddress(undefined, { SWARM_CLUSTER: 'redis://:a%2Fb@store' })).toMatchObject({
      password: 'a/b',
    });
    expect(clusterAddress(undefined, { SWARM_CLUSTER: '' })).toBeNull();
    expect(clusterAddress(undefined, {})).toBeNull();
  });

  it('takes a password from the environment or a file, never from what is typed', () => {
    const dir = makeTempDir('address-');
    onTestFinished(() => removeTempDir(dir));
    const [password, ca] = [join(dir, 'password'), join(dir, 'ca.pem')];
    writeFileSync(password, ' from the file \n');
    writeFileSync(ca, 'CA');
    expect(clusterAddress('redis://store', { SWARM_CLUSTER_PASSWORD: 'p' })?.password).toBe('p');
    const named = { SWARM_CLUSTER_PASSWORD_FILE: password, SWARM_CLUSTER_CA: ca };
    expect(clusterAddress('rediss://store', named)).toMatchObject({
      password: ' from the file ',
      tls: { ca: 'CA' },
    });
    expect(() => clusterAddress('redis://:p@store', {})).toThrow(/can be read by everybody/);
    const missing = { SWARM_CLUSTER_PASSWORD_FILE: join(dir, 'no-such-file') };
    expect(() => clusterAddress('redis://store', missing)).toThrow(
      /SWARM_CLUSTER_PASSWORD_FILE names a file/,
    );
  });

  it('never shows a part of a password, however it is written into it', () => {
    const alphabet = fc.constantFrom(...'@:/?#%[]\\ &=+;"\'$QXZ789');
    const password = fc.string({ unit: alphabet, minLength: 4, maxLength: 12 });
    const scheme = fc.constantFrom('redis', 'rediss');
    fc.assert(
      fc.property(scheme, password, fc.boolean(), (kind, secret, encoded) => {
        const written = encoded ? encodeURIComponent(secret) : secret;
        const shown = textOf(`${kind}://u:${written}@store.example/0`);
        const place = /^rediss?:\/\/store\.example:\d+\/0$/;
        expect(place.test(shown) || !/[QXZ789]{2}/.test(shown)).toBe(true);
        if (encoded) expect(shown).toMatch(place);
      }),
      { numRuns: 500 },
    );
  });

  it('is in the clear where TLS is missing and it is not this machine', () => {
    const isOpen = (text: string) => {
      const address = clusterAddress(text, {});
      return address !== null && isInTheClear(address);
    };
    expect(isOpen('redis://store')).toBe(true);
    const closed = ['redis://127.0.0.1', 'redis://localhost', 'redis://[::1]', 'rediss://store'];
    expect(closed.map(isOpen)).toEqual([false, false, false, false]);
  });
});

/** What a person is shown of an address: the place, or what is wrong with it. */
function textOf(url: string): string {
  try {
    const address = clusterAddress(undefined, { SWARM_CLUSTER: url });
    return address === null ? '' : placeOf(address);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}
