import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublic, meansPrivate, parseHostRule, plainHost, ruleFor } from './hosts.ts';

const rules = (...texts: string[]) => texts.flatMap((text) => parseHostRule(text) ?? []);
const allows = (text: string, host: string, port = 443) => ruleFor(rules(text), host, port) !== undefined;

describe('a host rule', () => {
  it.each([
    ['example.com', 'example.com', 443, true],
    ['example.com', 'example.com', 80, true],
    ['example.com', 'example.com', 8080, false],
    ['example.com', 'www.example.com', 443, false],
    ['example.com', 'example.com.evil.org', 443, false],
    ['*.example.com', 'www.example.com', 443, true],
    ['*.example.com', 'a.b.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'evilexample.com', 443, false],
    ['example.com:8443', 'example.com', 8443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['EXAMPLE.com', 'example.com', 443, true],
    ['*', 'anything.org', 443, true],
    ['*', '93.184.215.14', 443, false],
    ['*', 'anything.org', 22, false],
    ['[::1]:8080', '::1', 8080, true],
  ])('%s lets %s:%i through: %s', (text, host, port, expected) => {
    expect(allows(text, host, port)).toBe(expected);
  });

  it.each([
    '',
    'https://example.com',
    'example.com/path',
    'user@example.com',
    'a b',
    '*.*',
    'example.com:0',
    'x:99999',
    '*x*',
  ])('is not made of %j', (text) => {
    expect(parseHostRule(text)).toBeNull();
  });

  it('never lets a host through that is neither its own nor below it', () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 1, maxLength: 4 }),
        fc.array(label, { minLength: 2, maxLength: 3 }),
        (asked, own) => {
          const [host, name] = [asked.join('.'), own.join('.')];
          if (allows(name, host)) expect(host).toBe(name);
          if (allows(`*.${name}`, host)) expect(host.endsWith(`.${name}`)).toBe(true);
        },
      ),
    );
  });

  it('means a private place only where it names one', () => {
    const meant = ['localhost:3000', '127.0.0.1:80', '10.1.2.3:443', '[::1]:80'];
    expect(rules(...meant).map(meansPrivate)).toEqual([true, true, true, true]);
    expect(rules('example.com', '*', '*.localhost', '8.8.8.8').map(meansPrivate)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('an address', () => {
  it.each([
    ['127.0.0.1', '127.8.9.1', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
    ['100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.2.1'],
    ['::1', '::', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '2001:db8::1'],
    ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '2002:7f00:1::', 'example.com', ''],
  ])('of this machine, its networks or a cloud is not public: %s', (...addresses) => {
    expect(addresses.filter(isPublic)).toEqual([]);
  });

  it.each(['8.8.8.8', '93.184.215.14', '172.32.0.1', '2606:4700::1111'])('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  it('is the same with brackets, in capitals and with a dot at the end', () => {
    expect([plainHost('[::1]'), plainHost('EXAMPLE.com.')]).toEqual(['::1', 'example.com']);
  });
});
