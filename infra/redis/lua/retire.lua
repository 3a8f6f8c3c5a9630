-- Removes a match that is over and marks it as in the archive, if nothing was written to it since it
-- was read.
--
-- KEYS  1 snapshot  2 locator  3 ended matches  4 archived matches
--       5 its chat, which expires  6... the match's other keys, which go with it
-- ARGV  1 head of the match as it was read (32 bytes)  2 locator as it was read  3 board
--       4 bit of the match in KEYS 4  5 seconds until its chat expires
-- Returns  1 | 0 (not over, changed, or removed before; nothing written)
--
-- The locator is compared because a refusal adds a leaf and an outcome, and leaves the head alone.

local FIXED = 5
local snapshot, locator, ended_matches, archived, chat = unpack(KEYS, 1, FIXED)
local head, places, board, bit, chat_seconds = unpack(ARGV)

if not redis.call('ZSCORE', ended_matches, board)
    or redis.call('GETRANGE', snapshot, 0, 31) ~= head
    or redis.call('GET', locator) ~= places then
  return 0
end
-- needs no memory, and after a first write the server refuses none: so it is done with a full memory, too
redis.call('ZREM', ended_matches, board)
redis.call('SETBIT', archived, bit, 1)
redis.call('UNLINK', snapshot, locator, unpack(KEYS, FIXED + 1))
redis.call('EXPIRE', chat, chat_seconds)
return 1
