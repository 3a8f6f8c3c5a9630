-- Commits a run of decided commands of one shard, in inbox order. Each applies whole or not at all.
--
-- KEYS  1 inbox  2 log  3 tries  4 draws  5 due; then for each match of the run:
--       snapshot, events, outcomes, refusals, replies laid ready
-- ARGV  for each command:
--       inbox entry id, which match (1..), command id, head it was decided on (32 bytes),
--       digest (8 bytes), tail of the outcome, field of the refusals ('' unless refused),
--       snapshot after it ('' if refused), when the match is due (ms, 0 for never), replies as
--       they were decided on and after it ('' for none), chain and number of the seed it draws
--       with (0 and 0 if it does not), number of leaves, then the leaves' bytes
-- Returns  for each command one of
--       {'done', stored outcome}   committed now
--       {'known', stored outcome}  committed before, under the same command id; nothing written
--       {'conflict'}               the match, its replies, or the seed it draws with are not as they
--                                  were decided on any more; nothing written
--
-- The stored outcome is the digest, the log index of the first leaf in decimal, ':' and the tail.
-- Redis has no rollback, so everything that can be refused (no memory, a key of the wrong type)
-- is met by the reads and the first write of a command, before anything else of it is written.
-- Two keys are read for that alone.

local ENTRY_FIELDS, MATCH_KEYS, SHARD_KEYS = 14, 5, 5
local NO_HASH = string.rep('\0', 32)
local inbox, log, tries, draws, dues = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

redis.call('HLEN', tries)
redis.call('ZCARD', dues)

local index = 0
if redis.call('EXISTS', log) == 1 then
  local info = redis.call('XINFO', 'STREAM', log)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      index = tonumber(string.match(info[i + 1], '^(%d+)')) + 1
    end
  end
end

local results = {}
local at = 1
while at <= #ARGV do
  local entry, match, id, head = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3]
  local digest, tail, field = ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]
  local snapshot, due, laid, left = ARGV[at + 7], ARGV[at + 8], ARGV[at + 9], ARGV[at + 10]
  local chain, k, leaves = ARGV[at + 11], tonumber(ARGV[at + 12]), tonumber(ARGV[at + 13])
  local first = at + ENTRY_FIELDS
  at = first + leaves
  local key = SHARD_KEYS + (match - 1) * MATCH_KEYS
  local state, events, outcomes, refusals, replies =
    KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], KEYS[key + 4], KEYS[key + 5]

  local known = redis.call('HGET', outcomes, id)
  local current = redis.call('GETRANGE', state, 0, 31)
  if current == '' then
    current = NO_HASH
  end
  if known then
    redis.call('XDEL', inbox, entry)
    redis.call('HDEL', tries, entry)
    results[#results + 1] = {'known', known}
  elseif current ~= head or (k > 0 and (redis.call('HGET', draws, 'chain') ~= chain
      or redis.call('HGET', draws, 'k') ~= string.format('%d', k - 1)))
      or (snapshot ~= '' and (redis.call('GET', replies) or '') ~= laid) then
    results[#results + 1] = {'conflict'}
  else
    local stored = digest .. string.format('%d', index) .. ':' .. tail
    if snapshot == '' then
      redis.call('HINCRBY', refusals, field, 1)
      redis.call('XADD', log, string.format('%d-1', index), 'l', ARGV[first])
      index = index + 1
    else
      local board = string.match(state, ':(%d+)$')
      for i = first, first + leaves - 1 do
        local seq = redis.call('RPUSH', events, ARGV[i])
        redis.call('XADD', log, string.format('%d-1', index), 'e',
          board .. ':' .. string.format('%d', seq))
        index = index + 1
      end
      if k > 0 then
        redis.call('HSET', draws, 'k', string.format('%d', k))
      end
      redis.call('SET', state, snapshot)
      if due == '0' then
        redis.call('ZREM', dues, board)
      else
        redis.call('ZADD', dues, due, board)
      end
      if left ~= laid then
        if left == '' then
          redis.call('DEL', replies)
        else
          redis.call('SET', replies, left)
        end
      end
      redis.call('DEL', refusals)
    end
    redis.call('HSET', outcomes, id, stored)
    redis.call('XDEL', inbox, entry)
    redis.call('HDEL', tries, entry)
    results[#results + 1] = {'done', stored}
  end
end
return results
