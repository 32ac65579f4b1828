/**
 * Translations of addresses of IPv6 by the plugin cnat, from VPP 26.06 on. VPP puts one before the entry that table 0 has for the
 * address, or for the network around it, so it needs no feature of an interface, and what it does not translate goes the way of
 * that entry. A translation carries no mark, so all of IPv6 are managed.
 */
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { type CnatTranslation, cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { mapInSlices } from '../map-in-slices.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { ANY, dumpTranslations, fromTranslation, toTranslation } from './translation-message.ts';

/** Of VPP. */
interface Metadata {
  readonly id: number;
}

const MAX_PORT = 65_535;

export function cnatTranslationDescriptor({
  client,
  clock,
  sessionCounters,
}: VppDescriptorOptions): KvDescriptor<CnatTranslation, Metadata> {
  const set = async (value: CnatTranslation): Promise<Metadata> => {
    await sessionCounters.add();
    const { id } = await client.request('cnat_translation_update', {
      translation: toTranslation(value),
    });
    return { id };
  };

  return defineDescriptor('vpp-cnat-translation', cnatTranslationModel, {
    validate,
    create: (_key, value) => set(value),
    update: (_key, _before, after) => set(after),
    // VPP keeps how an existing translation chooses
    needsRecreate: (_key, before, after) => before.client_affinity !== after.client_affinity,
    async delete(_key, _value, { id }) {
      await ignoreNotFound(client.request('cnat_translation_del', { id }));
    },

    async retrieve() {
      const values = await mapInSlices(clock, await dumpTranslations(client), (translation) => {
        const value = fromTranslation(translation);
        if (value === undefined) return [];
        const key = cnatTranslationModel.key(value);
        return [{ key, value, metadata: { id: translation.id }, origin: 'from-NB' as const }];
      });
      return values.flat();
    },
  });
}

/** No packet has the port 0: such a translation puts cnat before the routes to its address, and does no more. */
function validate(key: string, value: CnatTranslation): void {
  const isV6 = (address: string): boolean => address.includes(':') && address !== ANY;
  const { external_port: port, source_ip: source } = value;
  checkField(key, isV6(value.external_ip), 'external_ip', 'must be an IPv6 address');
  checkField(key, port <= MAX_PORT, 'external_port', 'must be 0 to 65535');
  checkField(key, source === '' || isV6(source), 'source_ip', 'must be an IPv6 address');
  checkField(key, value.backends.length > 0, 'backends', 'VPP aborts on a translation without one');
  for (const [position, backend] of value.backends.entries()) {
    const at = `backends[${position}]`;
    checkField(key, isV6(backend.ip_address), `${at}.ip_address`, 'must be an IPv6 address');
    const isPort = backend.port <= MAX_PORT && backend.port > 0 === port > 0;
    checkField(key, isPort, `${at}.port`, 'must be 1 to 65535, or 0 as the external port');
  }
  const ends = new Set(value.backends.map(({ ip_address, port: of }) => `${ip_address} ${of}`));
  checkField(key, ends.size === value.backends.length, 'backends', 'one is listed twice');
}
