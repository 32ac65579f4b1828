import { defineModel } from '../define.ts';
import { IPScanNeighbor } from './l3.gen.ts';

export type { IPScanNeighbor } from './l3.gen.ts';

export const ipScanNeighborKey = 'config/vpp/v2/ipscanneigh-global';

export const ipScanNeighborModel = defineModel<IPScanNeighbor>({
  message: IPScanNeighbor,
  keyPrefix: ipScanNeighborKey,
  key: () => ipScanNeighborKey,
});
