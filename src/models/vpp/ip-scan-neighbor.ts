import { defineModel } from '../define.ts';
import { IPScanNeighbor } from './l3.gen.ts';

export type { IPScanNeighbor } from './l3.gen.ts';

export const IP_SCAN_NEIGHBOR_KEY = 'config/vpp/v2/ipscanneigh-global';

export const ipScanNeighborModel = defineModel<IPScanNeighbor>({
  message: IPScanNeighbor,
  keyPrefix: IP_SCAN_NEIGHBOR_KEY,
  key: () => IP_SCAN_NEIGHBOR_KEY,
});
