import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { type SocketExemption, socketExemptionModel } from '#models/linux/socket-exemption.ts';
import { maxExemptionLength, type SocketTable } from '../socket-services/api.ts';

/** Network namespaces whose sockets are not translated. All in the table are managed. */
export function socketExemptionDescriptor(
  table: SocketTable,
): KvDescriptor<SocketExemption, undefined> {
  const put = async ({ name, namespace }: SocketExemption): Promise<undefined> => {
    await table.exempt({ name, path: namespace });
  };
  return defineDescriptor('linux-socket-exemption', socketExemptionModel, {
    validate(key, { name, namespace }) {
      checkText(key, 'name', name, maxExemptionLength.name);
      checkText(key, 'namespace', namespace, maxExemptionLength.path);
    },
    claims: (_key, { namespace }) => [`socket/namespace/${namespace}`],
    create: (_key, value) => put(value),
    update: (_key, _before, after) => put(after),
    async delete(_key, { name }) {
      await table.endExemption(name);
    },
    async retrieve() {
      const found = await table.exemptNamespaces();
      return found.map(({ name, path }) => {
        const value = socketExemptionModel.canonical({ name, namespace: path });
        return { key: socketExemptionModel.key(value), value, origin: 'from-NB' as const };
      });
    },
  });
}

function checkText(key: string, field: string, text: string, length: number): void {
  const isShort = Buffer.byteLength(text) <= length;
  checkField(key, text !== '' && isShort, field, `has 1 to ${length} bytes`);
  checkField(key, !text.includes('\0'), field, 'must not have a zero byte');
}
