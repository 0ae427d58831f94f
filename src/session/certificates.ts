import type { Environment } from '../system/program.ts';

/** What the user's own programs get: the certificates that the shell takes from a hook, because they slow Node down. */
export function withCertificates(env: Environment): Environment {
  const { RALPH_CA_CERTS: certificates, ...others } = env;
  return certificates ? { ...others, NODE_EXTRA_CA_CERTS: certificates } : others;
}
