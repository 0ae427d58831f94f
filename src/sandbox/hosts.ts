import { BlockList, isIP } from 'node:net';

/** Allows a host by name or address, hosts below it (`*.`), or all (`*`), at a port. */
export type HostRule = {
  readonly host: string;
  readonly below: boolean;
  readonly port: number | null;
};

const webPorts: readonly number[] = [80, 443];

/** Reads `example.com`, `*.example.com`, `example.com:8080`, `[::1]:8080` or `*`; null for anything else. */
export function parseHostRule(text: string): HostRule | null {
  const match = /^(?<host>\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::(?<port>\d{1,5}))?$/i.exec(text.trim());
  const pattern = match?.groups?.host;
  if (pattern === undefined) return null;
  const port = match?.groups?.port === undefined ? null : Number(match.groups.port);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const below = pattern.startsWith('*.');
  const host = plainHost(below ? pattern.slice(2) : pattern);
  const isHost = host === '*' ? !below : /^[a-z0-9_.-]+$/.test(host) || isIP(host) !== 0;
  return isHost ? { host, below, port } : null;
}

/** Returns a host in lower case, without a final dot and the brackets of an IPv6 address. */
export function plainHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

export function ruleFor(rules: readonly HostRule[], host: string, port: number): HostRule | undefined {
  return rules.find((rule) => {
    if (rule.port === null ? !webPorts.includes(port) : rule.port !== port) return false;
    // A wildcard is for names; an address has to be allowed itself.
    if (rule.host === '*') return isIP(host) === 0;
    return rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host;
  });
}

/** True if a rule names a private address on purpose: `localhost:11434`, `10.0.0.7:443`. */
export function meansPrivate({ host, below }: HostRule): boolean {
  if (below || host === '*') return false;
  return host === 'localhost' || (isIP(host) !== 0 && !isPublic(host));
}

/**
 * This network, private ones, shared address space, loopback, link-local (the metadata service is there), special
 * purposes, benchmarks, documentation, multicast and the rest.
 */
const special = blockList(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
);
const publicV6 = blockList('ipv6', '2000::/3');
/** Teredo, documentation and 6to4, which carry other addresses or belong to nobody. */
const specialV6 = blockList('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20');

function blockList(family: 'ipv4' | 'ipv6', ...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.flatMap((line) => line.split(' '))) {
    const [address = '', prefix] = subnet.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** True for an address of the open internet: not this machine, its networks or a cloud's metadata service. */
export function isPublic(address: string): boolean {
  const plain = plainHost(address).replace(/%.*$/, '');
  const family = isIP(plain);
  if (family === 4) return !special.check(plain, 'ipv4');
  if (family === 6) return publicV6.check(plain, 'ipv6') && !specialV6.check(plain, 'ipv6');
  return false;
}
