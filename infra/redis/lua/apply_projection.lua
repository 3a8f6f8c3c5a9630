-- Writes what a projection makes of some leaves to one of its buckets, together with its new checkpoint.
--
-- KEYS  1 checkpoint  2 hold  3 set of the bucket's keys; then the keys written
-- ARGV  1 checkpoint as it was read  2 the new one  3 most ms that a hold can have left (one with
--       more was set by a clock that ran ahead, and is none)  4 how many of the written keys, the
--       first ones, to add to the set of keys; then for each command: how many words follow, its
--       name, which of the written keys (1..), and its arguments
-- Returns  'done' | 'moved' (the checkpoint is another, or missing) | 'held' (another process
--          replaces the data); the last two have written nothing
--
-- Redis has no rollback: a server without memory refuses the first write, before all else.

local FIXED = 3
local MOST = 1000

local checkpoint, hold = unpack(redis.call('MGET', KEYS[1], KEYS[2]))
if checkpoint ~= ARGV[1] then
  return 'moved'
end
local left = hold and redis.call('PTTL', KEYS[2]) or -1
if left >= 0 and left <= tonumber(ARGV[3]) then
  return 'held'
end
redis.call('SET', KEYS[1], ARGV[2])
-- the set has the names within the bucket: what comes before them is before the set's own name, `keys`
local start = #KEYS[3] - #'keys' + 1
local new = {}
for i = 1, tonumber(ARGV[4]) do
  new[#new + 1] = string.sub(KEYS[i + FIXED], start)
  if #new == MOST then
    redis.call('SADD', KEYS[3], unpack(new))
    new = {}
  end
end
if #new > 0 then
  redis.call('SADD', KEYS[3], unpack(new))
end
local at = 5
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  redis.call(ARGV[at + 1], KEYS[tonumber(ARGV[at + 2]) + FIXED], unpack(ARGV, at + 3, last))
  at = last + 1
end
return 'done'
