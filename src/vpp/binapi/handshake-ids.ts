/**
 * Message IDs that are fixed before the handshake has transferred the message table. Names in that
 * table are `<message>_<crc>`.
 */
export const HANDSHAKE_ID = 15;
export const HANDSHAKE_REPLY_ID = 16;
