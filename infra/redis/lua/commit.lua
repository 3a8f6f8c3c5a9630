-- Commits a run of decided commands of one shard, in inbox order. Each applies whole or not at all.
--
-- KEYS  inbox, log, attempts, chain of seeds, due times, ended matches, archived matches, why the shard is
--       closed; then for each match of the run: state, moves, turns, events, locator, outcomes, refusals,
--       conditional moves; then for each sender of a refused command: those that are kept
-- ARGV  1 number of shards  2 least index of the first leaf  3 most, '' for any; then for each
--       command its words, as below, its rare words if it has any, then the bytes of its leaves
-- Returns  {'closed', index} if the log's next index is another, {'closed'} if the shard is closed:
--       nothing written; else for each command one of
--       {'done', stored outcome}   committed now
--       {'known', stored outcome}  committed before, under the same command id; nothing written
--       {'archived'}               the match is in the archive; nothing written
--       {'conflict'}               the match, its conditional moves, or the seed it draws with
--                                  have changed since it was decided; nothing written
--
-- The entries leave the inbox at the end of the run, but for conflicts, which are decided again.
-- The stored outcome is the digest, the log index of the first leaf in decimal, ':' and the tail.
-- Redis has no rollback. No memory is met by the first write of a command, because the server decides
-- that when a script begins. A key of the wrong type is met by a read, or by one of the first writes,
-- which are undone then. The inbox needs no look, because the entries come from it.
-- The snapshot's marks, the byte after its head, say whether the match has conditional moves (1) and
-- refusals counted (2), so that most commands need not look.
--
-- The words of a command; infra/store/store_calls.py has the same names:
--   entry                id of the inbox entry
--   match                which match of KEYS, from 1
--   id                   command id
--   decided_on           head of the match that it was decided on, 32 bytes
--   digest               of the command, 8 bytes
--   tail                 of the outcome
--   snapshot             of the match after it, with its marks; '' for a refused command
--   more_moves           moves to append
--   more_turns           their times to append
--   due                  when the match is due next, ms, 0 for never
--   leaves               how many leaves follow
--   rare                 '1' if it has rare words, '' if they would be `USUAL`, as those of most moves
--
-- The rare words of a command:
--   refusal              field of the refusals to count up, '' for an accepted command
--   kept                 refused command to keep, '' for none
--   kept_in              which of KEYS it is kept in, from 1, 0 for none
--   rewritten            '1' if its moves and times are all of the match, and replace the others;
--                        by that a match that was over may go on
--   ended                its time if the match is over after it, ms, 0 if it is not
--   conditional_before   conditional moves that it was decided on, '' for none
--   conditional_after    conditional moves after it, '' for none
--   chain                chain of the seed it draws with, 0 if it does not draw
--   k                    number of that seed in its chain, 0 if it does not draw

local FIELDS, RARE_FIELDS = 12, 9
local USUAL = {'', '', '0', '', '0', '', '', '0', '0'}
local MATCH_KEYS, SHARD_KEYS = 8, 8
local NO_HASH = string.rep('\0', 32)
local MOST_IDS = 1000  -- that one XDEL names: a call has a limited number of words
local MOST_KEPT = 1000  -- refused commands of a sender in a shard
local inbox, log, attempts, seed_chain, due_times, ended_matches, archived, closed =
  unpack(KEYS, 1, SHARD_KEYS)
local shards, least, most = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

-- The bytes of a log index in a locator: see infra/store/locators.py
local function varint(number)
  local bytes = ''
  while number >= 128 do
    bytes = bytes .. string.char(number % 128 + 128)
    number = math.floor(number / 128)
  end
  return bytes .. string.char(number)
end

-- What `append` has appended of a command, because it may have to be cut off again
local appended_to, appended, appends = {}, {}, 0

local function append(key, text)
  if text ~= '' then
    redis.call('APPEND', key, text)
    appends = appends + 1
    appended_to[appends], appended[appends] = key, text
  end
end

local function cut_off()
  for i = 1, appends do
    local key = appended_to[i]
    local rest = redis.call('STRLEN', key) - #appended[i]
    if rest == 0 then
      redis.call('DEL', key)
    else
      redis.call('SET', key, redis.call('GETRANGE', key, 0, rest - 1))
    end
  end
end

local function forget(noted, outcomes, id)
  if noted then
    redis.call('HDEL', outcomes, id)
  end
end

local function replace(key, text)
  if text == '' then
    redis.call('DEL', key)
  else
    redis.call('SET', key, text)
  end
end

-- The writes of an accepted command that fail if a key is of the wrong type
local function write_checked(locator, places, moves, more_moves, turns, more_turns, due, board)
  append(locator, places)
  append(moves, more_moves)
  append(turns, more_turns)
  -- the last, because it can't be undone
  if due == '0' then
    redis.call('ZREM', due_times, board)
  else
    redis.call('ZADD', due_times, due, board)
  end
end

-- mostly only the log is there, which counts three times, so that one call is enough
local there = redis.call('EXISTS', attempts, closed, log, log, log)
local unusual = there % 3 > 0
local suspected = unusual and redis.call('HLEN', attempts) > 0
local index = there < 3 and 0 or index_after(log)
if index < least or (most ~= '' and index > tonumber(most)) then
  return {'closed', index}
end
-- with a most index it is restored, for which it is closed meanwhile
if unusual and most == '' and redis.call('EXISTS', closed) == 1 then
  return {'closed'}
end

local results, decided = {}, {}
local at = 4
while at <= #ARGV do
  -- no table, because filling one for each command would cost as much as several calls
  local entry, match, id, decided_on, digest, tail, snapshot, more_moves, more_turns, due, leaves, rare =
    unpack(ARGV, at, at + FIELDS - 1)
  local first, others, from = at + FIELDS, USUAL, 1
  if rare ~= '' then
    others, from, first = ARGV, first, first + RARE_FIELDS
  end
  local refusal, kept, kept_in, rewritten, ended, conditional_before, conditional_after, chain, k =
    unpack(others, from, from + RARE_FIELDS - 1)
  k, leaves = tonumber(k), tonumber(leaves)
  at = first + leaves
  local key = SHARD_KEYS + (tonumber(match) - 1) * MATCH_KEYS
  local state, moves, turns, events, locator, outcomes, refusals, conditional =
    unpack(KEYS, key + 1, key + MATCH_KEYS)
  local board = string.match(state, ':(%d+)$')

  local current = redis.call('GETRANGE', state, 0, 32)
  local head, marks = string.sub(current, 1, 32), string.byte(current, 33) or 0
  if current == '' then
    head = NO_HASH
  end
  local prepared = ''
  if snapshot ~= '' and (marks % 2 == 1 or conditional_before ~= '') then
    prepared = redis.call('GET', conditional) or ''
  end

  local draws_other = k > 0 and (redis.call('HGET', seed_chain, 'chain') ~= chain
    or redis.call('HGET', seed_chain, 'k') ~= string.format('%d', k - 1))
  local conflict = head ~= decided_on or draws_other
    or (snapshot ~= '' and prepared ~= conditional_before)
  local stored = digest .. string.format('%d', index) .. ':' .. tail
  -- the outcome of most moves is their first write, which shows whether there is one already
  local noted = not conflict and current ~= '' and snapshot ~= '' and ended == '0' and rewritten == ''
    and redis.call('HSETNX', outcomes, id, stored) == 1
  local known = not noted and redis.call('HGET', outcomes, id)

  -- of a match in the archive nothing else is left
  if current == '' and redis.call('GETBIT', archived, math.floor(tonumber(board) / shards)) == 1 then
    decided[#decided + 1] = entry
    results[#results + 1] = {'archived'}
  elseif known then
    decided[#decided + 1] = entry
    results[#results + 1] = {'known', known}
  elseif conflict then
    results[#results + 1] = {'conflict'}
  else
    local places = ''
    for place = index, index + leaves - 1 do
      places = places .. varint(place)
    end
    if snapshot == '' then
      redis.call('STRLEN', locator)
      local keeps = kept ~= '' and redis.call('HLEN', KEYS[tonumber(kept_in)]) < MOST_KEPT
      redis.call('HINCRBY', refusals, refusal, 1)
      if keeps then
        redis.call('HSET', KEYS[tonumber(kept_in)], id, kept)
      end
      redis.call('APPEND', locator, places)
      if current ~= '' and marks < 2 then
        redis.call('SETRANGE', state, 32, string.char(marks + 2))
      end
    else
      if ended ~= '0' or rewritten ~= '' then
        redis.call('ZCARD', ended_matches)
      end
      local pushed = redis.pcall('RPUSH', events, unpack(ARGV, first, first + leaves - 1))
      if type(pushed) == 'table' then
        forget(noted, outcomes, id)
        error(pushed)
      end
      appends = 0
      local whole = rewritten ~= ''
      local done, wrong = pcall(write_checked, locator, places, moves, whole and '' or more_moves,
        turns, whole and '' or more_turns, due, board)
      if not done then
        cut_off()
        redis.call('RPOP', events, leaves)
        forget(noted, outcomes, id)
        error(wrong)
      end
      if whole then
        replace(moves, more_moves)
        replace(turns, more_turns)
      end
      redis.call('SET', state, snapshot)
      if k > 0 then
        redis.call('HSET', seed_chain, 'k', string.format('%d', k))
      end
      if ended ~= '0' then
        redis.call('ZADD', ended_matches, ended, board)
      elseif whole then
        redis.call('ZREM', ended_matches, board)
      end
      if conditional_after ~= conditional_before then
        replace(conditional, conditional_after)
      end
      if marks >= 2 or current == '' then
        redis.call('DEL', refusals)
      end
    end
    for i = first, first + leaves - 1 do
      redis.call('XADD', log, string.format('%d-1', index), 'l', ARGV[i])
      index = index + 1
    end
    if not noted then
      redis.call('HSET', outcomes, id, stored)
    end
    decided[#decided + 1] = entry
    results[#results + 1] = {'done', stored}
  end
end
for i = 1, #decided, MOST_IDS do
  local last = math.min(i + MOST_IDS - 1, #decided)
  redis.call('XDEL', inbox, unpack(decided, i, last))
  if suspected then
    redis.call('HDEL', attempts, unpack(decided, i, last))
  end
end
return results
