import { defineModel } from '#models/define.ts';
import { keyTemplate } from '#models/key-template.ts';
import { AllocationPool } from './id-alloc.gen.ts';

export type { AllocationPool } from './id-alloc.gen.ts';

export const allocationPoolKey = keyTemplate('idalloc/{name}', { name: '[^/]+' });

export const allocationPoolModel = defineModel<AllocationPool>({
  message: AllocationPool,
  keyPrefix: allocationPoolKey.prefix(),
  key: ({ name }) => allocationPoolKey.build({ name }),
});
