import { afterAll, beforeAll, describe } from 'vitest';
import { missing, startPostgres, startRedis, type TestStore } from '../../test/support/stores.ts';
import { describeFleet } from '../fleet/contract.ts';
import { engineAddress } from './address.ts';
import { type ClusterOptions, openCluster } from './open.ts';

const stores = { redis: startRedis, postgres: startPostgres } as const;

for (const kind of ['redis', 'postgres'] as const) {
  const why = missing[kind];
  describe.skipIf(why !== null)(`a cluster on ${kind}${why === null ? '' : ` (${why})`}`, () => {
    let store: TestStore;

    beforeAll(async () => {
      store = await stores[kind]();
    });
    afterAll(() => store?.stop());

    const open = async (options?: ClusterOptions) => {
      const address = engineAddress(await store.fresh(), {});
      if (address === null) throw new Error('no address');
      return openCluster(address, options);
    };

    describeFleet('as any fleet', open);
  });
}
