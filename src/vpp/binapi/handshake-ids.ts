/**
 * What both sides agree on before there is a message table: these two ids never change, and names
 * in the table are `<message>_<crc>`.
 */
export const HANDSHAKE_ID = 15;
export const HANDSHAKE_REPLY_ID = 16;
