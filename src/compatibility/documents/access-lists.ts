/** `/dump/vpp/v2/acl/…`. */
import type { Route } from '#infra/http/route.ts';
import { type Acl, aclModel } from '#models/vpp/acl.ts';
import type { AclMetadata } from '#vpp/descriptors/acl/acl.ts';
import { tagOf } from '#vpp/descriptors/tags.ts';
import { type DocumentDeps, documentRoute, listOf } from '../document.ts';
import { structJsonOf } from '../message-json.ts';

export function accessListDocuments({ southbound, clock }: DocumentDeps): Route[] {
  const read = async () => {
    const found = await southbound.read<Acl, AclMetadata>('vpp-acl');
    return listOf(clock, found, ({ value, metadata: { aclIndex } }) => ({
      acl: structJsonOf(aclModel, value),
      acl_meta: { acl_index: aclIndex, acl_tag: tagOf(value.name) },
    }));
  };
  return [
    documentRoute('/dump/vpp/v2/acl/ip', 'ACLs', clock, read),
    // the agent configures none
    documentRoute('/dump/vpp/v2/acl/macip', 'MACIP ACLs: none', clock, async () => null),
  ];
}
