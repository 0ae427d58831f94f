import { afterAll, beforeAll, describe } from 'vitest';
import { missing, startRedis, type TestStore } from '../../test/support/stores.ts';
import { describeFleet } from '../fleet/contract.ts';
import { openCluster } from './open.ts';

const stores = { redis: startRedis } as const;

for (const kind of ['redis'] as const) {
  const why = missing[kind];
  describe.skipIf(why !== null)(`a cluster on ${kind}${why === null ? '' : ` (${why})`}`, () => {
    let store: TestStore;
    let database = 0;

    beforeAll(async () => {
      store = await stores[kind]();
    });
    afterAll(() => store?.stop());

    describeFleet('as any fleet', () => openCluster(store.url.replace(/\/0$/, `/${database++ % 16}`)));
  });
}
