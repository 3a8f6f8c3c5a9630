-- Writes what projections make of some leaves to their buckets, each together with its new checkpoint.
--
-- KEYS  for each bucket: checkpoint, hold, set of the bucket's keys; then the keys written
-- ARGV  for each bucket: 1 how many of KEYS it has  2 how many words follow  3 checkpoint as it was read
--       4 the new one  5 most ms that a hold can have left (one with more was set by a clock that ran
--       ahead, and is none)  6 how many of the written keys, the first ones, to add to the set of keys;
--       then for each command: how many words follow, its name, which of the written keys (1..), and
--       its arguments
-- Returns  for each bucket 'done' | 'moved' (the checkpoint is another, or missing) | 'held' (another
--          process replaces the data); nothing is written to the last two
--
-- Redis has no rollback: a server without memory refuses the first write, before all else. What fails in a
-- bucket keeps nothing from being written to the others.

local FIXED = 3
local MOST = 1000

local buckets, marks = {}, {}
local key, at = 0, 1
while at <= #ARGV do
  buckets[#buckets + 1] = {key, at + 2}
  marks[#marks + 1] = KEYS[key + 1]
  marks[#marks + 1] = KEYS[key + 2]
  key = key + tonumber(ARGV[at])
  at = at + 2 + tonumber(ARGV[at + 1])
end

local function write(before, first)
  local names = KEYS[before + FIXED]
  -- the set has the names within the bucket: what comes before them is before the set's own name, `keys`
  local start = #names - #'keys' + 1
  local new = {}
  for i = 1, tonumber(ARGV[first + 3]) do
    new[#new + 1] = string.sub(KEYS[before + FIXED + i], start)
    if #new == MOST then
      redis.call('SADD', names, unpack(new))
      new = {}
    end
  end
  if #new > 0 then
    redis.call('SADD', names, unpack(new))
  end
  local place, last = first + 4, first + tonumber(ARGV[first - 1]) - 1
  while place <= last do
    local ends = place + tonumber(ARGV[place])
    redis.call(ARGV[place + 1], KEYS[before + FIXED + tonumber(ARGV[place + 2])],
      unpack(ARGV, place + 3, ends))
    place = ends + 1
  end
end

local found = redis.call('MGET', unpack(marks))
local results, checkpoints, failure = {}, {}, nil
for i, bucket in ipairs(buckets) do
  local hold, first = KEYS[bucket[1] + 2], bucket[2]
  local left = found[2 * i] and redis.call('PTTL', hold) or -1
  if found[2 * i - 1] ~= ARGV[first] then
    results[i] = 'moved'
  elseif left >= 0 and left <= tonumber(ARGV[first + 2]) then
    results[i] = 'held'
  else
    results[i] = 'done'
    checkpoints[#checkpoints + 1] = KEYS[bucket[1] + 1]
    checkpoints[#checkpoints + 1] = ARGV[first + 1]
  end
end
if #checkpoints > 0 then
  redis.call('MSET', unpack(checkpoints))
end
for i, bucket in ipairs(buckets) do
  if results[i] == 'done' then
    local done, wrong = pcall(write, bucket[1], bucket[2])
    failure = failure or (not done and wrong)
  end
end
if failure then
  error(failure)
end
return results
