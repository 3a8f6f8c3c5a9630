-- Commits a run of decided commands of one shard, in inbox order. Each applies whole or not at all.
--
-- KEYS  1 inbox  2 log  3 tries  4 draws  5 due; then for each match of the run:
--       snapshot, events, outcomes, refusals, conditional moves
-- ARGV  for each command the words that FIELDS names, then the bytes of its leaves
-- Returns  for each command one of
--       {'done', stored outcome}   committed now
--       {'known', stored outcome}  committed before, under the same command id; nothing written
--       {'conflict'}               the match, its conditional moves, or the seed it draws with
--                                  have changed since it was decided; nothing written
--
-- The stored outcome is the digest, the log index of the first leaf in decimal, ':' and the tail.
-- Redis has no rollback, so everything that can be refused (no memory, a key of the wrong type)
-- is met by the reads and the first write of a command, before anything else of it is written.
-- Two keys are read for that alone.

local FIELDS = {
  'entry',               -- id of the inbox entry
  'match',               -- which match of KEYS, from 1
  'id',                  -- command id
  'head',                -- head of the match that it was decided on, 32 bytes
  'digest',              -- of the command, 8 bytes
  'tail',                -- of the outcome
  'refusal',             -- field of the refusals to count up, '' for an accepted command
  'snapshot',            -- of the match after it, '' for a refused command
  'due',                 -- when the match is due next, ms, 0 for never
  'conditional_before',  -- conditional moves that it was decided on, '' for none
  'conditional_after',   -- conditional moves after it, '' for none
  'chain',               -- chain of the seed it draws with, 0 if it does not draw
  'k',                   -- number of that seed in its chain, 0 if it does not draw
  'leaves',              -- how many leaves follow
}
local MATCH_KEYS, SHARD_KEYS = 5, 5
local NO_HASH = string.rep('\0', 32)
local inbox, log, tries, draws, dues = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

redis.call('HLEN', tries)
redis.call('ZCARD', dues)
local index = next_index(log)

local results = {}
local at = 1
while at <= #ARGV do
  local new = {}
  for offset, name in ipairs(FIELDS) do
    new[name] = ARGV[at + offset - 1]
  end
  local k, leaves = tonumber(new.k), tonumber(new.leaves)
  local first = at + #FIELDS
  at = first + leaves
  local key = SHARD_KEYS + (tonumber(new.match) - 1) * MATCH_KEYS
  local state, events, outcomes, refusals, conditional =
    KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], KEYS[key + 4], KEYS[key + 5]

  local known = redis.call('HGET', outcomes, new.id)
  local current = redis.call('GETRANGE', state, 0, 31)
  if current == '' then
    current = NO_HASH
  end
  if known then
    redis.call('XDEL', inbox, new.entry)
    redis.call('HDEL', tries, new.entry)
    results[#results + 1] = {'known', known}
  elseif current ~= new.head or (k > 0 and (redis.call('HGET', draws, 'chain') ~= new.chain
      or redis.call('HGET', draws, 'k') ~= string.format('%d', k - 1)))
      or (new.snapshot ~= '' and (redis.call('GET', conditional) or '') ~= new.conditional_before)
  then
    results[#results + 1] = {'conflict'}
  else
    local stored = new.digest .. string.format('%d', index) .. ':' .. new.tail
    if new.snapshot == '' then
      redis.call('HINCRBY', refusals, new.refusal, 1)
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
      redis.call('SET', state, new.snapshot)
      if new.due == '0' then
        redis.call('ZREM', dues, board)
      else
        redis.call('ZADD', dues, new.due, board)
      end
      if new.conditional_after ~= new.conditional_before then
        if new.conditional_after == '' then
          redis.call('DEL', conditional)
        else
          redis.call('SET', conditional, new.conditional_after)
        end
      end
      redis.call('DEL', refusals)
    end
    redis.call('HSET', outcomes, new.id, stored)
    redis.call('XDEL', inbox, new.entry)
    redis.call('HDEL', tries, new.entry)
    results[#results + 1] = {'done', stored}
  end
end
return results
