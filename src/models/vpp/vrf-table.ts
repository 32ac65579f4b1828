import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { VrfTable } from './l3.gen.ts';

export type { VrfTable, VrfTableProtocol } from './l3.gen.ts';

export const vrfTableKey = keyTemplate('config/vpp/v2/vrf-table/id/{id}/protocol/{protocol}', {
  id: '\\d+',
  protocol: 'IPV4|IPV6',
});

export const vrfTableModel = defineModel<VrfTable>({
  message: VrfTable,
  keyPrefix: 'config/vpp/v2/vrf-table/',
  key: ({ id, protocol }) => vrfTableKey.build({ id, protocol }),
});
