import fc from 'fast-check';
import { isSecretName } from 'ralphkit-guard/secret-names';
import { describe, expect, it } from 'vitest';
import { agents } from '../agents/registry.ts';
import { namesToPass, passVariables } from './environment.ts';

describe('the environment of a sandbox', () => {
  it('has what the agent needs, by name and by beginning', () => {
    const env = {
      PATH: '/bin',
      LC_ALL: 'C',
      ANTHROPIC_API_KEY: 'k',
      OPENAI_API_KEY: 'k',
      AWS_SECRET: 'k',
      UNSET: undefined,
    };
    expect(passVariables(env, agents.claude.sandbox.variables)).toEqual({
      PATH: '/bin',
      LC_ALL: 'C',
      ANTHROPIC_API_KEY: 'k',
    });
    expect(passVariables(env, agents.codex.sandbox.variables)).toHaveProperty('OPENAI_API_KEY');
    expect(passVariables(env, ['AWS_SECRET'])).toHaveProperty('AWS_SECRET', 'k');
  });

  it('does not say where things are on this machine to another one', () => {
    expect(namesToPass({ PATH: '/bin', HOME: '/', SSL_CERT_FILE: 'x', LANG: 'C' }, [])).toEqual(['LANG']);
  });

  it('does not lead the agent out of its home', () => {
    const env = { CODEX_HOME: '/x', CLAUDE_CONFIG_DIR: '/x', XDG_CONFIG_HOME: '/x' };
    const all = [...agents.codex.sandbox.variables, ...agents.claude.sandbox.variables];
    expect(passVariables(env, all)).toEqual({});
  });

  it('has no secret that nobody has named', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z_]{1,20}_(TOKEN|SECRET|PASSWORD|API_KEY)$/), (name) => {
        fc.pre(isSecretName(name) && !name.startsWith('LC_'));
        expect(passVariables({ [name]: 'secret' }, agents.custom.sandbox.variables)).toEqual({});
      }),
    );
  });
});
