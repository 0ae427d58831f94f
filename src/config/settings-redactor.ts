import { services } from '../os/notify/presets.ts';
import type { Environment } from '../os/process/program.ts';
import { createRedactor, type Redactor } from '../os/redact/redact.ts';
import type { ResolvedSettings } from './settings-schema.ts';

/** Returns a redactor that knows the secrets of the environment and of the settings. */
export function settingsRedactor({ agent, notify }: ResolvedSettings, env: Environment): Redactor {
  return createRedactor({
    ...env,
    ...agent.env,
    ...(notify.secret === undefined ? {} : { NOTIFY_SECRET: notify.secret }),
    // Many services accept everybody who knows the address.
    ...Object.fromEntries(
      (['webhook', ...services] as const).flatMap((name) => {
        const address = notify[name];
        return address === undefined ? [] : [[`NOTIFY_${name.toUpperCase()}_SECRET`, address]];
      }),
    ),
  });
}
