import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { AllocationPool } from './idalloc.gen.ts';

export type { AllocationPool } from './idalloc.gen.ts';

export const allocationPoolKey = keyTemplate('idalloc/{name}', { name: '[^/]+' });

export const allocationPoolModel = defineModel<AllocationPool>({
  message: AllocationPool,
  keyPrefix: allocationPoolKey.prefix(),
  key: ({ name }) => allocationPoolKey.build({ name }),
});
