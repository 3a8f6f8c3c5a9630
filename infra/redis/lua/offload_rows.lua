-- Replaces the oldest rows of a list of finished matches by the entries of the pages that have them, if
-- the list is as it was read.
--
-- KEYS  1 checkpoint  2 hold  3 set of the bucket's keys  4 the list, a sorted set  5 entries of its pages
--       6 members whose rows may be needed by no list any longer
-- ARGV  1 number of entries as it was read  2 the last of them, or ''  3 most ms that a hold can have left
--       4 how many of the last entries to replace  5 how many new entries; then these, then the members
--       that leave the list
-- Returns  'done' | 'moved' (another writer was first, or the bucket or the list was deleted)
--          | 'held' (another process replaces the data); the last two have written nothing

local left = redis.call('EXISTS', KEYS[2]) == 1 and redis.call('PTTL', KEYS[2]) or -1
if left >= 0 and left <= tonumber(ARGV[3]) then
  return 'held'
end
local entries = 5 + tonumber(ARGV[5])
local members = { unpack(ARGV, entries + 1) }
if redis.call('EXISTS', KEYS[1]) == 0
    or redis.call('LLEN', KEYS[5]) ~= tonumber(ARGV[1])
    or (redis.call('LINDEX', KEYS[5], -1) or '') ~= ARGV[2] then
  return 'moved'
end
for _, member in ipairs(members) do
  if not redis.call('ZSCORE', KEYS[4], member) then
    return 'moved'
  end
end
redis.call('LLEN', KEYS[6])
-- first what needs no memory: a server without any refuses only scripts that begin with another command
redis.call('ZREM', KEYS[4], unpack(members))
for _ = 1, tonumber(ARGV[4]) do
  redis.call('RPOP', KEYS[5])
end
redis.call('RPUSH', KEYS[5], unpack(ARGV, 6, entries))
redis.call('RPUSH', KEYS[6], unpack(members))
local start = #KEYS[3] - #'keys' + 1
redis.call('SADD', KEYS[3], string.sub(KEYS[5], start), string.sub(KEYS[6], start))
return 'done'
